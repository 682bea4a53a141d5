/* SPDX-License-Identifier: MIT
 * The connector's process events (linux/cn_proc.h), a netlink multicast group. Hides the shape of its
 * messages and a filter that has the kernel drop, before they wake us, the events of threads and those
 * that nobody asks for.
 *
 * The kernel ignores who asks from another pid or user namespace than the first ones, without a word: only
 * an answer to our request says that we are told.
 */
#include "os/linux/proc_events.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/load.h"

#define BUFFER_SIZE  (8 << 20) /* of the socket: some 10000 events */
#define ANSWER_MS    100
#define ANSWERS_MAX  10000 /* messages on the way to the answer */
#define MESSAGE_ROOM 512

/* Offsets in a message, for the filter too: netlink header, connector header, event. */
enum {
	AT_ACK = NLMSG_HDRLEN + offsetof(struct cn_msg, ack),
	AT_WHAT = NLMSG_HDRLEN + (int)sizeof(struct cn_msg),
	AT_DATA = AT_WHAT + offsetof(struct proc_event, event_data),
	AT_FORK_PARENT = AT_DATA + offsetof(struct fork_proc_event, parent_tgid),
	AT_FORK_PID = AT_DATA + offsetof(struct fork_proc_event, child_pid),
	AT_FORK_TGID = AT_DATA + offsetof(struct fork_proc_event, child_tgid),
	AT_PID = AT_DATA + offsetof(struct exec_proc_event, process_pid),
	AT_TGID = AT_DATA + offsetof(struct exec_proc_event, process_tgid),
	AT_END = AT_DATA + sizeof(struct fork_proc_event)
};

/* Names that older headers have inside a struct. */
#define WHAT_NONE 0u
#define WHAT_FORK 1u
#define WHAT_EXEC 2u
#define WHAT_EXIT 0x80000000u

/* ---- messages ------------------------------------------------------------------------------ */

bool proc_events_parse(const void *message, size_t size, struct kin_event *ret_event)
{
	struct span bytes = {message, size};
	if (!span_has(bytes, 0, AT_END))
		return false;
	uint32_t what = load_u32(bytes, AT_WHAT);
	bool born = what == WHAT_FORK;
	if (!born && what != WHAT_EXEC && what != WHAT_EXIT)
		return false;
	pid_t pid = (pid_t)load_u32(bytes, born ? AT_FORK_PID : AT_PID);
	pid_t tgid = (pid_t)load_u32(bytes, born ? AT_FORK_TGID : AT_TGID);
	if (pid <= 0 || (pid != tgid && what != WHAT_EXEC)) /* threads; but any thread may exec */
		return false;
	*ret_event = (struct kin_event){
		.change = born                ? KIN_BORN
			  : what == WHAT_EXEC ? KIN_EXEC
					      : KIN_ENDED,
		.pid = tgid,
		.parent = born ? (pid_t)load_u32(bytes, AT_FORK_PARENT) : 0,
	};
	return true;
}

/* ---- the socket ---------------------------------------------------------------------------- */

/* Messages come in the machine's byte order, the filter loads as from a network. Lets through: every exec,
 * and births and ends where the thread is the process. */
static int set_filter(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_WHAT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(WHAT_EXEC), 10, 0), /* let through */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(WHAT_FORK), 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_FORK_PID),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_FORK_TGID),
		BPF_STMT(BPF_JMP | BPF_JA, 4),                               /* compare */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(WHAT_EXIT), 0, 5), /* drop */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_PID),
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_TGID),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, MESSAGE_ROOM),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = {sizeof code / sizeof code[0], code};
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

static int request(int fd)
{
	struct {
		uint8_t bytes[NLMSG_HDRLEN + sizeof(struct cn_msg) + sizeof(uint32_t)];
	} message = {{0}};
	struct nlmsghdr header = {.nlmsg_len = sizeof message.bytes, .nlmsg_type = NLMSG_DONE};
	struct cn_msg connector = {.id = {CN_IDX_PROC, CN_VAL_PROC},
				   .seq = (uint32_t)getpid(),
				   .len = sizeof(uint32_t)};
	uint32_t listen = PROC_CN_MCAST_LISTEN;
	memcpy(message.bytes, &header, sizeof header);
	memcpy(message.bytes + NLMSG_HDRLEN, &connector, sizeof connector);
	memcpy(message.bytes + NLMSG_HDRLEN + sizeof connector, &listen, sizeof listen);
	return send(fd, message.bytes, sizeof message.bytes, 0) < 0 ? error_from_errno(errno) : 0;
}

/* The answer to our request: 0, or the kernel's refusal. All listeners get the answers to all. */
static int await_answer(int fd)
{
	uint8_t message[MESSAGE_ROOM];
	for (int i = 0; i < ANSWERS_MAX; i++) {
		struct pollfd ready = {fd, POLLIN, 0};
		if (poll(&ready, 1, ANSWER_MS) <= 0)
			return TACHY_EPERM;
		ssize_t n = recv(fd, message, sizeof message, 0);
		struct span bytes = {message, n > 0 ? (size_t)n : 0};
		if (!span_has(bytes, 0, AT_DATA + 4) || load_u32(bytes, AT_WHAT) != WHAT_NONE ||
		    load_u32(bytes, AT_ACK) != 1) /* ours, which was 0, and one more */
			continue;
		return load_u32(bytes, AT_DATA) ? TACHY_EPERM : 0;
	}
	return TACHY_EPERM;
}

static int subscribe(int fd)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
	int size = BUFFER_SIZE;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
	if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return error_from_errno(errno);
	int rc = request(fd);
	if (rc >= 0)
		rc = await_answer(fd);
	return rc >= 0 && set_filter(fd) < 0 ? error_from_errno(errno) : rc;
}

int proc_events_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (fd < 0)
		return errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT ? TACHY_EPLATFORM
									 : error_from_errno(errno);
	int rc = subscribe(fd);
	if (rc < 0) {
		(void)close(fd);
		return rc;
	}
	return fd;
}

int proc_events_next(int fd, struct kin_event *ret_event)
{
	uint8_t message[MESSAGE_ROOM];
	struct sockaddr_nl from = {0};
	socklen_t from_size = sizeof from;
	ssize_t n = recvfrom(fd, message, sizeof message, MSG_DONTWAIT, (struct sockaddr *)&from,
			     &from_size);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return errno == ENOBUFS ? TACHY_ELIMIT : error_from_errno(errno);
	if (from_size != sizeof from || from.nl_pid != 0) /* not the kernel's */
		return TACHY_EAGAIN;
	return proc_events_parse(message, (size_t)n, ret_event) ? 1 : TACHY_EAGAIN;
}
