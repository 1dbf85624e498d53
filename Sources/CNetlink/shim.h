// What Swift can't import from libnl, glibc and the kernel's headers by itself.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

// setns(2), which glibc declares for _GNU_SOURCE only; that would change types which Swift's Glibc module has already.
extern int setns(int descriptor, int type);

// pthread_setname_np(3), for the same reason.
extern int pthread_setname_np(pthread_t thread, const char *name);

// One datagram from a netlink socket: recvmsg(2).
//
// Returns its whole length, which is greater than the capacity if it was cut off (MSG_TRUNC), or -errno. libnl's own
// nl_recv would turn ENOBUFS into -NLE_NOMEM, as it does with a failed malloc. The sender's port is 0 for the kernel.
static inline ssize_t netwatch_receive(int descriptor, void *buffer, size_t capacity, int flags, unsigned int *sender) {
    struct sockaddr_nl address;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = &part, .msg_iovlen = 1,
    };
    ssize_t length;
    memset(&address, 0, sizeof(address));
    do {
        length = recvmsg(descriptor, &message, flags | MSG_TRUNC);
    } while (length < 0 && errno == EINTR);
    *sender = address.nl_pid;
    return length < 0 ? -errno : length;
}
