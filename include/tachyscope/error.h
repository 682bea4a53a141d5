/* SPDX-License-Identifier: MIT
 * Error codes of libtachyscope: the one vocabulary that every layer shares.
 *
 * A function that can fail returns int: >= 0 is success, < 0 is one of the codes below.
 * Functions that a person waits for also fill a struct tachy_error with one sentence:
 * what failed, why, and what to do about it.
 */
#ifndef TACHYSCOPE_ERROR_H
#define TACHYSCOPE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* name, value, class, text. Values never change once released. */
#define TACHY_ERRORS(X) \
	X(TACHY_EAGAIN, -1, TACHY_CLASS_TRANSIENT, "try again") \
	X(TACHY_ETORN, -2, TACHY_CLASS_TRANSIENT, "the target moved while it was read") \
	X(TACHY_EFAULT, -3, TACHY_CLASS_TRANSIENT, "address not mapped in the target") \
	X(TACHY_EGONE, -4, TACHY_CLASS_GONE, "the process has ended") \
	X(TACHY_EEXEC, -5, TACHY_CLASS_GONE, "the process runs another program now") \
	X(TACHY_EPERM, -6, TACHY_CLASS_DENIED, "not permitted") \
	X(TACHY_ENOPYTHON, -7, TACHY_CLASS_UNSUPPORTED, "not a CPython process") \
	X(TACHY_EVERSION, -8, TACHY_CLASS_UNSUPPORTED, "unsupported Python version") \
	X(TACHY_ENOTREADY, -9, TACHY_CLASS_TRANSIENT, "Python is not initialised yet") \
	X(TACHY_EFINALIZING, -10, TACHY_CLASS_GONE, "Python is shutting down") \
	X(TACHY_EPLATFORM, -11, TACHY_CLASS_UNSUPPORTED, "this platform is not supported") \
	X(TACHY_ECORRUPT, -12, TACHY_CLASS_CORRUPT, "the data make no sense") \
	X(TACHY_ELIMIT, -13, TACHY_CLASS_CORRUPT, "a bound was reached") \
	X(TACHY_ENOMEM, -14, TACHY_CLASS_MEMORY, "out of memory") \
	X(TACHY_EINVAL, -15, TACHY_CLASS_BUG, "invalid argument") \
	X(TACHY_EIO, -16, TACHY_CLASS_DENIED, "input/output error") \
	X(TACHY_ENOENT, -17, TACHY_CLASS_GONE, "not found")

enum tachy_error_class {
	TACHY_CLASS_NONE,        /* no error */
	TACHY_CLASS_TRANSIENT,   /* the same call may work in a moment */
	TACHY_CLASS_GONE,        /* what was asked about is no longer there */
	TACHY_CLASS_DENIED,      /* rights, or the machine, stand in the way */
	TACHY_CLASS_UNSUPPORTED, /* will not work with this version of tachyscope */
	TACHY_CLASS_CORRUPT,     /* foreign bytes that hold no meaning */
	TACHY_CLASS_MEMORY,
	TACHY_CLASS_BUG /* the caller's fault, or ours */
};

enum tachy_error_code {
#define TACHY_ERROR_ENUM(name, value, class, text) name = value,
	TACHY_ERRORS(TACHY_ERROR_ENUM)
#undef TACHY_ERROR_ENUM
		TACHY_OK = 0
};

#define TACHY_ERROR_TEXT_MAX 1024

/* One sentence for a person. `text` is empty while `code` is 0. */
struct tachy_error {
	int code;
	char text[TACHY_ERROR_TEXT_MAX];
};

#ifdef __cplusplus
}
#endif
#endif
