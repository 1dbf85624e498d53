/* A server that takes a number of requests at once, answers each after a while, and refuses every other with 503 at once.
   One thread, epoll. On SIGTERM it prints: served refused, and the most that it served at once.
   cc -O2 -o crowded-server crowded-server.c; crowded-server PORT CAPACITY MILLISECONDS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { connections = 1 << 16 };
static const char served_answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
static const char refused_answer[] = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";

/* What is being served, first come first out: all take the same time. A connection that closes leaves its place. */
static struct { int fd; uint32_t generation; int64_t due; } line[connections];
static unsigned head, tail;
static uint32_t generations[connections];
static char last[connections][4];
static long served, refused, peak;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int listener(int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, connections)) fail("listen");
  return fd;
}

static void answer(int fd, const char *text, size_t length) {
  if (send(fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length && errno != EPIPE && errno != ECONNRESET)
    fail("send");
}

static void ask(int fd, long capacity, int64_t service) {
  if ((long)(tail - head) >= capacity) {
    refused++;
    answer(fd, refused_answer, sizeof refused_answer - 1);
    return;
  }
  line[tail % connections].fd = fd;
  line[tail % connections].generation = generations[fd];
  line[tail % connections].due = now() + service;
  tail++;
  if ((long)(tail - head) > peak) peak = tail - head;
}

/* Counts the heads that end in what came: these requests have no bodies. */
static void take(int fd, long capacity, int64_t service) {
  char buffer[4 + 65536];
  memcpy(buffer, last[fd], 4);
  ssize_t got = recv(fd, buffer + 4, sizeof buffer - 4, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    generations[fd]++;
    memset(last[fd], 0, 4);
    close(fd);
    return;
  }
  for (ssize_t i = 1; i <= got; i++)
    if (memcmp(buffer + i, "\r\n\r\n", 4) == 0) ask(fd, capacity, service);
  memcpy(last[fd], buffer + got, 4);
}

static void serve(int64_t moment) {
  while (head != tail && line[head % connections].due <= moment) {
    int fd = line[head % connections].fd;
    served++;
    if (line[head % connections].generation == generations[fd])
      answer(fd, served_answer, sizeof served_answer - 1);
    head++;
  }
}

static void finish(int signal) {
  (void)signal;
  printf("%ld %ld %ld\n", served, refused, peak);
  fflush(stdout);
  _exit(0);
}

int main(int count, char **arguments) {
  if (count != 4) return 64;
  long capacity = atol(arguments[2]);
  int64_t service = atol(arguments[3]) * 1000000;
  struct rlimit files = {0};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  signal(SIGTERM, finish);
  int server = listener(atoi(arguments[1])), poll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = server}, events[256];
  epoll_ctl(poll, EPOLL_CTL_ADD, server, &event);
  for (;;) {
    int64_t left = head == tail ? 1000000000 : line[head % connections].due - now();
    struct timespec wait = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
    int ready = epoll_pwait2(poll, events, 256, &wait, NULL);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd != server) {
        take(events[i].data.fd, capacity, service);
        continue;
      }
      int fd, one = 1;
      while ((fd = accept4(server, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= connections) fail("too many connections");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
        epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
      }
    }
    serve(now());
  }
}
