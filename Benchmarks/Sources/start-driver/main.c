// Starts a command repeatedly, and prints the time from before the fork to its first output.
//
// start-driver COUNT CPU OWN-CPU -- COMMAND …
// The driver has a processor of its own: on that of the command, it would read an output only once a command that goes on
// computing has used up its time slice of some milliseconds.
// Prints: min p50 p90 in ms.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cbench.h"

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static int64_t once(int cpu, char **command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) bench_fail("pipe2");
  int64_t before = bench_now();
  pid_t child = fork();
  if (child < 0) bench_fail("fork");
  if (child == 0) {
    bench_pin(cpu);
    dup2(ends[1], 1);
    execvp(command[0], command);
    bench_fail(command[0]);
  }
  close(ends[1]);
  char text[4096];
  ssize_t got = read(ends[0], text, sizeof text);
  int64_t after = bench_now();
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ends[0]);
  if (got <= 0) {
    fprintf(stderr, "start-driver: %s printed nothing\n", command[0]);
    exit(1);
  }
  return after - before;
}

int main(int count, char **arguments) {
  if (count < 6) return 64;
  int total = atoi(arguments[1]), cpu = atoi(arguments[2]);
  bench_pin(atoi(arguments[3]));
  int64_t *times = calloc((size_t)total, sizeof *times);
  for (int i = 0; i < total; i++) times[i] = once(cpu, arguments + 5);
  qsort(times, (size_t)total, sizeof *times, compare);
  printf("%.2f %.2f %.2f\n", times[0] / 1e6, times[total / 2] / 1e6, times[total * 9 / 10] / 1e6);
  return 0;
}
