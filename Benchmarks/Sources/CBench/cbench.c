#define _GNU_SOURCE
#include "cbench.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int64_t bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_fail(const char *what) {
  perror(what);
  exit(1);
}

void bench_pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) bench_fail("sched_setaffinity");
}

int bench_netlink(uint32_t groups, int buffer) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) bench_fail("socket");
  if (buffer > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer) != 0) bench_fail("SO_RCVBUF");
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) bench_fail("bind");
  return fd;
}

static void *attribute(void *at, uint16_t type, uint32_t value) {
  struct rtattr *head = at;
  head->rta_type = type;
  head->rta_len = RTA_LENGTH(sizeof value);
  memcpy(RTA_DATA(head), &value, sizeof value);
  return (char *)at + RTA_SPACE(sizeof value);
}

size_t bench_route(void *buffer, uint16_t type, uint16_t flags, uint32_t destination, uint8_t length,
                   uint32_t gateway, int interface) {
  struct nlmsghdr *head = buffer;
  struct rtmsg *route = NLMSG_DATA(head);
  memset(buffer, 0, NLMSG_LENGTH(sizeof *route));
  head->nlmsg_type = type;
  head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
  route->rtm_family = AF_INET;
  route->rtm_dst_len = length;
  route->rtm_table = RT_TABLE_MAIN;
  // A deletion names no protocol, so that it matches a route of any origin.
  route->rtm_protocol = type == RTM_DELROUTE ? RTPROT_UNSPEC : RTPROT_STATIC;
  route->rtm_type = RTN_UNICAST;
  void *end = (char *)route + NLMSG_ALIGN(sizeof *route);
  if (length > 0) end = attribute(end, RTA_DST, htonl(destination));
  if (gateway != 0) end = attribute(end, RTA_GATEWAY, htonl(gateway));
  end = attribute(end, RTA_OIF, (uint32_t)interface);
  head->nlmsg_len = (uint32_t)((char *)end - (char *)buffer);
  return head->nlmsg_len;
}

int bench_request(int socket, void *message, size_t length) {
  if (send(socket, message, length, 0) != (ssize_t)length) bench_fail("send");
  char answer[4096];
  ssize_t got = recv(socket, answer, sizeof answer, 0);
  if (got < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr))) bench_fail("recv");
  struct nlmsgerr *error = NLMSG_DATA((struct nlmsghdr *)answer);
  return -error->error;
}
