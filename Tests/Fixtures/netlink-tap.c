/* Writes what a program sends and receives over netlink to a capture, as an nlmon interface would see it.
 *
 * gcc -shared -fPIC -o netlink-tap.so netlink-tap.c -ldl
 * NETLINK_TAP=FILE LD_PRELOAD=./netlink-tap.so ip route
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static void record(const struct iovec *parts, size_t count, size_t length) {
	unsigned char record[32 + 65536] = {0};
	struct timespec now;
	size_t used = 32;
	clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < count && used < 32 + length; i++) {
		size_t part = parts[i].iov_len < 32 + length - used ? parts[i].iov_len : 32 + length - used;
		memcpy(record + used, parts[i].iov_base, part);
		used += part;
	}
	uint32_t head[4] = {now.tv_sec, now.tv_nsec, used - 16, used - 16};
	uint16_t cooked[2] = {htons(4), htons(824)};
	memcpy(record, head, 16);
	memcpy(record + 16, cooked, 4);
	int file = open(getenv("NETLINK_TAP"), O_WRONLY | O_APPEND);
	if (file < 0 || write(file, record, used) != (ssize_t)used)
		abort();
	close(file);
}

ssize_t send(int fd, const void *data, size_t length, int flags) {
	ssize_t (*next)(int, const void *, size_t, int) = dlsym(RTLD_NEXT, "send");
	struct iovec part = {(void *)data, length};
	record(&part, 1, length);
	return next(fd, data, length, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
	ssize_t (*next)(int, const struct msghdr *, int) = dlsym(RTLD_NEXT, "sendmsg");
	record(message->msg_iov, message->msg_iovlen, 65536);
	return next(fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
	ssize_t (*next)(int, struct msghdr *, int) = dlsym(RTLD_NEXT, "recvmsg");
	ssize_t length = next(fd, message, flags);
	if (length > 0 && !(flags & MSG_PEEK))
		record(message->msg_iov, message->msg_iovlen, length);
	return length;
}
