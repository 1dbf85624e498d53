// Adds and removes routes that are no default routes at full speed, and prints how long it took.
//
// route-storm INTERFACE CHANGES [keep]: CHANGES messages, half of them additions; with 'keep', only additions.
// Prints: wall seconds, CPU seconds of this process.
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "cbench.h"

enum { batch = 64, round = 1024 };

// Sends messages without waiting for each one's acknowledgement: only the last of a batch asks for it.
static void flush(int socket, char *buffer, size_t length, struct nlmsghdr *last) {
  if (length == 0) return;
  last->nlmsg_flags |= NLM_F_ACK;
  int error = bench_request(socket, buffer, length);
  if (error != 0) {
    errno = error;
    bench_fail("route");
  }
}

static void change(int socket, uint16_t type, uint32_t first, int number, int interface) {
  static char buffer[batch * 128];
  size_t used = 0;
  struct nlmsghdr *last = NULL;
  for (int i = 0; i < number; i++) {
    last = (struct nlmsghdr *)(buffer + used);
    uint16_t flags = type == RTM_NEWROUTE ? NLM_F_CREATE | NLM_F_REPLACE : 0;
    used += NLMSG_ALIGN(bench_route(last, type, flags, first + (uint32_t)i, 32, 0, interface));
    last->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
    if ((i + 1) % batch == 0) {
      flush(socket, buffer, used, last);
      used = 0;
    }
  }
  flush(socket, buffer, used, last);
}

int main(int count, char **arguments) {
  if (count < 3) return 64;
  int interface = (int)if_nametoindex(arguments[1]), keep = count > 3 && !strcmp(arguments[3], "keep");
  if (interface == 0) bench_fail(arguments[1]);
  int total = atoi(arguments[2]), socket = bench_netlink(0, 0);
  uint32_t next = 0x0B000000;
  int64_t before = bench_now();
  for (int done = 0; done < total;) {
    int number = total - done < round ? total - done : round;
    if (!keep) number = number > 1 ? number / 2 : 1;
    change(socket, RTM_NEWROUTE, next, number, interface);
    if (!keep) change(socket, RTM_DELROUTE, next, number, interface);
    done += keep ? number : 2 * number;
    next += (uint32_t)number;
  }
  int64_t after = bench_now();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("%.3f %.3f\n", (double)(after - before) / 1e9, cpu);
  return 0;
}
