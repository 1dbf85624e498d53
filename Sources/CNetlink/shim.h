// What Swift can't import from libnl, glibc and the kernel's headers by itself.
#pragma once

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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

// These have the same numbers on all machines that Swift runs on; the headers of Linux before 5.2 lack them.
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif

// A view of sysfs for the calling thread's network namespace, attached nowhere: a descriptor, or -errno.
//
// fsopen(2), fsconfig(2), fsmount(2): with FSOPEN_CLOEXEC, FSCONFIG_CMD_CREATE, and FSMOUNT_CLOEXEC with
// MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV and MOUNT_ATTR_NOEXEC.
static inline int netwatch_open_sysfs(void) {
    int context = (int)syscall(SYS_fsopen, "sysfs", 1);
    int result;
    if (context < 0)
        return -errno;
    result = (int)syscall(SYS_fsconfig, context, 6, NULL, NULL, 0);
    if (result == 0)
        result = (int)syscall(SYS_fsmount, context, 1, 1 | 2 | 4 | 8);
    if (result < 0)
        result = -errno;
    close(context);
    return result;
}

// The number of the interface of a name in a socket's network namespace, or -errno: netdevice(7), SIOCGIFINDEX.
static inline int netwatch_interface_index(int descriptor, const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
    return ioctl(descriptor, SIOCGIFINDEX, &request) == 0 ? request.ifr_ifindex : -errno;
}

// The name of an interface's driver, up to 32 bytes and a NUL; 0 or -errno: SIOCETHTOOL, ETHTOOL_GDRVINFO.
static inline int netwatch_driver(int descriptor, const char *name, char *driver) {
    struct ethtool_drvinfo information = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
    request.ifr_data = (void *)&information;
    if (ioctl(descriptor, SIOCETHTOOL, &request) != 0)
        return -errno;
    memcpy(driver, information.driver, sizeof(information.driver));
    driver[sizeof(information.driver)] = 0;
    return 0;
}

// The hardware address of an interface of Ethernet's kind, 6 bytes; 0 or -errno: netdevice(7), SIOCGIFHWADDR.
static inline int netwatch_hardware_address(int descriptor, const char *name, unsigned char *address) {
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
    if (ioctl(descriptor, SIOCGIFHWADDR, &request) != 0)
        return -errno;
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
        return -EPROTOTYPE;
    memcpy(address, request.ifr_hwaddr.sa_data, 6);
    return 0;
}

// The control messages of one datagram from a socket's error queue: recvmsg(2) with MSG_ERRQUEUE, which does not wait.
//
// Returns how many bytes they have, or -errno: EAGAIN if the queue is empty. The datagram's own bytes are those of the
// packet that the error is about, and are left out.
static inline ssize_t netwatch_receive_error(int descriptor, void *control, size_t capacity) {
    struct msghdr message = {.msg_control = control, .msg_controllen = capacity};
    ssize_t length;
    do {
        length = recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    } while (length < 0 && errno == EINTR);
    return length < 0 ? -errno : (ssize_t)message.msg_controllen;
}
