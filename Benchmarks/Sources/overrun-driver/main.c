// Stops a listener that prints JSON lines, overruns its socket, changes the state, wakes it, and waits for the right line.
//
// overrun-driver INTERFACE ROUNDS MESSAGES QUIET -- LISTENER …
// Before each round it waits for QUIET ms, so that the listener has finished the previous round.
// Prints, for each round: ms from SIGCONT to the line with the right status; at the end how many overruns it reported.
#define _GNU_SOURCE
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cbench.h"

static char text[1 << 20];
static size_t held;
static int resyncs;

// Reads lines until one contains the words; returns its moment, or -1 after 10 s.
static int64_t await(int fd, const char *words) {
  for (;;) {
    char *end;
    while ((end = memchr(text, '\n', held)) != NULL) {
      *end = 0;
      int64_t moment = bench_now();
      resyncs += strstr(text, "\"event\":\"resync\"") != NULL;
      int found = strstr(text, words) != NULL;
      size_t used = (size_t)(end + 1 - text);
      memmove(text, end + 1, held -= used);
      if (found) return moment;
    }
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, 10000) <= 0) return -1;
    ssize_t got = read(fd, text + held, sizeof text - held);
    if (got <= 0) return -1;
    held += (size_t)got;
  }
}

static void set_default(int route, int interface, int present) {
  char message[256];
  size_t length = present ? bench_route(message, RTM_NEWROUTE, NLM_F_CREATE, 0, 0, 0xC0000201, interface)
                          : bench_route(message, RTM_DELROUTE, 0, 0, 0, 0, interface);
  if (bench_request(route, message, length) != 0) bench_fail("default route");
}

// Default-like routes pass every filter that keeps other routes out: these fill the buffer.
static void flood(int route, int interface, int messages) {
  char message[256];
  for (int i = 0; i < messages; i++) {
    size_t length = bench_route(message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, 0x10000000u * (1 + i % 4), 4,
                                0xC0000202 + (uint32_t)(i / 4 % 8), interface);
    if (bench_request(route, message, length) != 0) bench_fail("flood");
  }
}

int main(int count, char **arguments) {
  if (count < 7) return 64;
  int interface = (int)if_nametoindex(arguments[1]), rounds = atoi(arguments[2]), messages = atoi(arguments[3]);
  int quiet = atoi(arguments[4]);
  if (interface == 0) bench_fail(arguments[1]);
  int ends[2], route = bench_netlink(0, 0);
  if (pipe2(ends, O_CLOEXEC) != 0) bench_fail("pipe2");
  pid_t child = fork();
  if (child < 0) bench_fail("fork");
  if (child == 0) {
    dup2(ends[1], 1);
    execvp(arguments[6], arguments + 6);
    bench_fail(arguments[6]);
  }
  close(ends[1]);
  if (await(ends[0], "\"status\":\"wifi\"") < 0) bench_fail("no first state");
  for (int i = 0; i < rounds; i++) {
    if (quiet > 0) poll(NULL, 0, quiet);
    kill(child, SIGSTOP);
    waitpid(child, NULL, WUNTRACED);
    flood(route, interface, messages);
    set_default(route, interface, 0);
    int64_t before = bench_now();
    kill(child, SIGCONT);
    int64_t after = await(ends[0], "\"status\":\"notReachable\"");
    if (after < 0) {
      printf("never\n");
      break;
    }
    printf("%.3f\n", (double)(after - before) / 1e6);
    set_default(route, interface, 1);
    if (await(ends[0], "\"status\":\"wifi\"") < 0) break;
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  printf("overruns %d\n", resyncs);
  return 0;
}
