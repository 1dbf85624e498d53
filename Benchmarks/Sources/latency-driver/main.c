// Starts a listener, changes the default route repeatedly, and prints the listener's latency.
//
// latency-driver INTERFACE COUNT CPU stamp|line -- LISTENER …
// stamp: the listener writes 8 bytes (CLOCK_MONOTONIC, ns) for each event; line: it writes lines, stamped when read.
// Prints: p50 p90 p99 in µs and the number of events that were never reported.
#define _GNU_SOURCE
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cbench.h"

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static pid_t start(char **command, int *output) {
  int ends[2];
  if (pipe(ends) != 0) bench_fail("pipe");
  pid_t child = fork();
  if (child < 0) bench_fail("fork");
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp(command[0], command);
    bench_fail(command[0]);
  }
  close(ends[1]);
  *output = ends[0];
  return child;
}

// The moment of the next report, or -1 if there is none within the deadline (in ms).
static int64_t notice(int fd, int lines, int deadline) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  if (poll(&wait, 1, deadline) <= 0) return -1;
  int64_t moment;
  if (!lines) return read(fd, &moment, sizeof moment) == sizeof moment ? moment : -1;
  moment = bench_now();
  char text[65536];
  return read(fd, text, sizeof text) > 0 ? moment : -1;
}

static void drain(int fd, int lines) {
  while (notice(fd, lines, 20) >= 0) continue;
}

int main(int count, char **arguments) {
  if (count < 7) return 64;
  int interface = (int)if_nametoindex(arguments[1]), total = atoi(arguments[2]), lines = !strcmp(arguments[4], "line");
  if (interface == 0) bench_fail(arguments[1]);
  bench_pin(atoi(arguments[3]));
  int output;
  pid_t listener = start(arguments + 6, &output);
  int route = bench_netlink(0, 0);
  char message[256];
  int64_t *times = calloc((size_t)total, sizeof *times);
  // The first report shows that the listener listens; one without an initial report gets some time.
  notice(output, lines, 300);
  drain(output, lines);
  int noticed = 0;
  for (int i = 0; i < total; i++) {
    size_t length = bench_route(message, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, 0, 0, 0xC0000201 + (i & 1), interface);
    int64_t before = bench_now();
    if (bench_request(route, message, length) != 0) bench_fail("route");
    int64_t after;
    // A report of an earlier event is not the report of this change.
    do after = notice(output, lines, 1000);
    while (after >= 0 && after < before);
    if (after > before) times[noticed++] = after - before;
    struct timespec gap = {.tv_nsec = 300000};
    nanosleep(&gap, NULL);
    while (notice(output, lines, 0) >= 0) continue;
  }
  kill(listener, SIGKILL);
  waitpid(listener, NULL, 0);
  if (noticed == 0) return 1;
  qsort(times, (size_t)noticed, sizeof *times, compare);
  printf("%.2f %.2f %.2f %d\n", times[noticed / 2] / 1e3, times[noticed * 9 / 10] / 1e3, times[noticed * 99 / 100] / 1e3,
         total - noticed);
  return 0;
}
