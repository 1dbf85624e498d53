/* The least that a program without a library needs to send a request once a link is back: a netlink socket, and a TCP socket
   that connects when the notice says that the interface runs. Says 'waiting' for each round, as return-client does.
   cc -O2 -I../Sources/CBench/include -o return-floor return-floor.c ../Sources/CBench/cbench.c
   return-floor INTERFACE ADDRESS PORT ROUNDS */
#define _GNU_SOURCE
#include "cbench.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Reads notices until one says that the interface runs, or does not. */
static void wait_for(int netlink, int index, int runs) {
  char buffer[16384];
  for (;;) {
    int left = (int)recv(netlink, buffer, sizeof buffer, 0);
    if (left < 0) bench_fail("recv");
    for (struct nlmsghdr *head = (void *)buffer; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
      struct ifinfomsg *link = NLMSG_DATA(head);
      if (head->nlmsg_type != RTM_NEWLINK || link->ifi_index != index) continue;
      if (!(link->ifi_flags & IFF_RUNNING) == !runs) return;
    }
  }
}

int main(int count, char **arguments) {
  if (count != 5) return 64;
  int index = (int)if_nametoindex(arguments[1]), netlink = bench_netlink(RTMGRP_LINK, 0);
  struct sockaddr_in far = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[3]))};
  if (index == 0 || inet_pton(AF_INET, arguments[2], &far.sin_addr) != 1) bench_fail("arguments");
  static const char request[] = "GET / HTTP/1.1\r\nHost: 192.0.2.1:8081\r\n\r\n";
  char answer[4096];
  for (int round = 0; round < atoi(arguments[4]); round++) {
    puts("waiting");
    fflush(stdout);
    wait_for(netlink, index, 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&far, sizeof far) || send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
      bench_fail("connect");
    /* The driver waits for the end of the connection. */
    if (recv(fd, answer, sizeof answer, 0) <= 0) bench_fail("recv");
    close(fd);
    wait_for(netlink, index, 0);
  }
}
