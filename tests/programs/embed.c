/* SPDX-License-Identifier: MIT
 * A program that embeds Python, for tests. Needs no Python headers: only functions of the stable
 * API are called, found in a shared libpython at run time, or linked in with -DEMBED_STATIC.
 *
 *   embed --main LIBPYTHON ARGS...     be a Python: ARGS are what `python3` would get
 *   embed --host LIBPYTHON N FILE      start N C threads that hold a thread state but no Python
 *                                      frame, then run FILE as __main__
 *   embed --late LIBPYTHON MS FILE     do nothing for MS milliseconds, then initialise and run FILE
 * With -DEMBED_STATIC the word LIBPYTHON is there all the same and ignored.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON_API(X)                                          \
	X(int, Py_BytesMain, (int argc, char **argv))          \
	X(void, Py_InitializeEx, (int signals))                \
	X(int, PyRun_SimpleString, (const char *text))         \
	X(void *, PyInterpreterState_Get, (void))              \
	X(void *, PyThreadState_New, (void *interpreter))      \
	X(void, PyEval_RestoreThread, (void *state))           \
	X(void *, PyEval_SaveThread, (void))

#ifdef EMBED_STATIC
#define DECLARE(type, name, args) type name args;
/* 3.8 has it only under this name */
void *_PyInterpreterState_Get(void) __attribute__((weak));
void *PyInterpreterState_Get(void) __attribute__((weak));
#else
#define DECLARE(type, name, args) static type(*name) args;
#endif
PYTHON_API(DECLARE)

static void load(const char *path)
{
#ifdef EMBED_STATIC
	(void)path;
#else
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "embed: %s\n", dlerror());
		exit(1);
	}
#define FIND(type, name, args) *(void **)&name = dlsym(library, #name);
	PYTHON_API(FIND)
	if (!PyInterpreterState_Get) /* 3.8 */
		*(void **)&PyInterpreterState_Get = dlsym(library, "_PyInterpreterState_Get");
#endif
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
		fprintf(stderr, "embed: cannot read %s\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

static void *interpreter;
static pthread_barrier_t ready;

static void *hold_state(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "c-thread");
	PyEval_RestoreThread(PyThreadState_New(interpreter));
	PyEval_SaveThread();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return NULL;
}

static int host(int n, const char *path)
{
	Py_InitializeEx(1);
#ifdef EMBED_STATIC
	interpreter = PyInterpreterState_Get ? PyInterpreterState_Get() : _PyInterpreterState_Get();
#else
	interpreter = PyInterpreterState_Get();
#endif
	pthread_barrier_init(&ready, NULL, (unsigned)n + 1);
	void *mine = PyEval_SaveThread();
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, hold_state, NULL);
	}
	pthread_barrier_wait(&ready);
	PyEval_RestoreThread(mine);
	return PyRun_SimpleString(read_all(path));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	load(argv[2]);
	if (strcmp(argv[1], "--main") == 0) {
		char **args = argv + 2;
		args[0] = getenv("EMBED_ARGV0") ? getenv("EMBED_ARGV0") : argv[0];
		return Py_BytesMain(argc - 2, args);
	}
	if (strcmp(argv[1], "--host") == 0 && argc == 5)
		return host(atoi(argv[3]), argv[4]);
	if (strcmp(argv[1], "--late") == 0 && argc == 5) {
		usleep((unsigned)atoi(argv[3]) * 1000u);
		Py_InitializeEx(1);
		return PyRun_SimpleString(read_all(argv[4]));
	}
	return 2;
}
