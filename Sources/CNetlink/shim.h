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
#include <sys/uio.h>

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
