// The floor: a bare C epoll + recv loop on the groups that a monitor needs. After each drain it writes the time.
//
// raw-listener CPU [parse]: with 'parse', each message's attributes are walked too.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cbench.h"

static uint64_t parsed;

static void walk(char *bytes, ssize_t length) {
  uint32_t left = (uint32_t)length;
  for (struct nlmsghdr *head = (void *)bytes; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
    int room = 0;
    struct rtattr *attribute = NULL;
    if (head->nlmsg_type == RTM_NEWROUTE || head->nlmsg_type == RTM_DELROUTE) {
      attribute = RTM_RTA(NLMSG_DATA(head));
      room = RTM_PAYLOAD(head);
    } else if (head->nlmsg_type == RTM_NEWLINK || head->nlmsg_type == RTM_DELLINK) {
      attribute = IFLA_RTA(NLMSG_DATA(head));
      room = IFLA_PAYLOAD(head);
    }
    for (; room > 0 && RTA_OK(attribute, room); attribute = RTA_NEXT(attribute, room)) parsed += attribute->rta_type;
  }
}

int main(int count, char **arguments) {
  bench_pin(count > 1 ? atoi(arguments[1]) : -1);
  int parse = count > 2 && strcmp(arguments[2], "parse") == 0;
  int fd = bench_netlink(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE |
                             RTMGRP_IPV4_RULE,
                         1 << 20);
  int poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) bench_fail("epoll");
  static char buffer[65536];
  int64_t moment = 0;
  if (write(1, &moment, sizeof moment) != sizeof moment) bench_fail("write");
  for (;;) {
    if (epoll_wait(poll, &event, 1, -1) < 0 && errno != EINTR) bench_fail("epoll_wait");
    ssize_t got;
    int seen = 0;
    while ((got = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
      if (parse) walk(buffer, got);
      seen = 1;
    }
    if (got < 0 && errno != EAGAIN && errno != ENOBUFS) bench_fail("recv");
    if (!seen) continue;
    moment = bench_now();
    if (write(1, &moment, sizeof moment) != sizeof moment) return 0;
  }
}
