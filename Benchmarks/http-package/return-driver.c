/* The far end of a link that goes and comes back: sets it down and up, and tells how long after 'up' the first bytes of a
   request came. One round for each line on stdin, which says that a request waits.
   Run in a namespace of its own that has the peer of the client's interface.
   cc -O2 -ISources/CBench/include -o return-driver return-driver.c cbench.c; return-driver INTERFACE PORT MILLISECONDS */
#define _GNU_SOURCE
#include "cbench.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void set_link(int netlink, int index, int up) {
  struct {
    struct nlmsghdr head;
    struct ifinfomsg link;
  } message = {
      .head = {.nlmsg_len = sizeof message, .nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
      .link = {.ifi_index = index, .ifi_flags = up ? IFF_UP : 0, .ifi_change = IFF_UP},
  };
  if (bench_request(netlink, &message, sizeof message) != 0) bench_fail("RTM_NEWLINK");
}

static int listener(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 16)) bench_fail("listen");
  return fd;
}

int main(int count, char **arguments) {
  if (count != 4) return 64;
  int index = (int)if_nametoindex(arguments[1]), netlink = bench_netlink(0, 0), server = listener(atoi(arguments[2]));
  long longest = atol(arguments[3]);
  if (index == 0) bench_fail("if_nametoindex");
  static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  char line[16], bytes[4096];
  srandom(1);
  while (fgets(line, sizeof line, stdin)) {
    /* So that what waits in steps is met at all moments between two of them. */
    long wait = 20000000 + random() % (longest * 1000000);
    nanosleep(&(struct timespec){wait / 1000000000, wait % 1000000000}, NULL);
    int64_t start = bench_now();
    set_link(netlink, index, 1);
    int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    int64_t accepted = bench_now();
    if (fd < 0 || recv(fd, bytes, sizeof bytes, 0) <= 0) bench_fail("no request");
    int64_t sent = bench_now();
    printf("%.1f %.1f\n", (double)(sent - start) / 1e3, (double)(accepted - start) / 1e3);
    fflush(stdout);
    if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0) bench_fail("send");
    while (recv(fd, bytes, sizeof bytes, 0) > 0) continue;
    close(fd);
    set_link(netlink, index, 0);
  }
}
