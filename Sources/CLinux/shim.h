// Functions of Linux that the C library's Swift module leaves out.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

// setns(2), pthread_setname_np(3), pipe(2), memfd_create(2) and posix_spawn_file_actions_addclosefrom_np, declared for
// _GNU_SOURCE only; that would change types which the Swift module has already.
extern int setns(int descriptor, int type);
extern int pthread_setname_np(pthread_t thread, const char *name);
extern int pipe2(int descriptors[2], int flags);
extern int memfd_create(const char *name, unsigned int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// MFD_CLOEXEC (linux/memfd.h).
static const unsigned int netwatch_memfd_cloexec = 1;

// A crash must not leave a terminal that shows no cursor and echoes nothing. What follows runs in a signal's handler,
// where Swift can't: it only calls what signal-safety(7) allows. One file of the tool alone may call these functions,
// as each that does has variables of its own.

/// The signals of crashes.
static const int netwatch_crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
enum { netwatch_crash_count = sizeof netwatch_crashes / sizeof *netwatch_crashes };

/// What a crash restores, and how.
struct netwatch_guard {
    int is_armed;
    int descriptor;
    struct termios settings;
    size_t length;
    char bytes[512];
    struct sigaction before[netwatch_crash_count];
    char stack[32768];
};

static inline struct netwatch_guard *netwatch_guard_state(void) {
    static struct netwatch_guard state;
    return &state;
}

/// Puts the terminal's settings back, then lets the signal do what it would have done.
static void netwatch_guard_restore(int number) {
    struct netwatch_guard *guard = netwatch_guard_state();
    if (guard->is_armed) {
        // A terminal that takes nothing does not hold up the end.
        ssize_t written = write(guard->descriptor, guard->bytes, guard->length);
        (void)written;
        tcsetattr(guard->descriptor, TCSANOW, &guard->settings);
    }
    for (int position = 0; position < netwatch_crash_count; position++) {
        if (netwatch_crashes[position] == number) sigaction(number, &guard->before[position], 0);
    }
    raise(number);
}

/// Has a crash write bytes to a terminal and put its settings back; once more replaces what is restored.
static inline void netwatch_guard_arm(
    int descriptor, const struct termios *settings, const char *bytes, size_t length
) {
    struct netwatch_guard *guard = netwatch_guard_state();
    int was_armed = guard->is_armed;
    guard->settings = *settings;
    guard->length = length < sizeof guard->bytes ? length : sizeof guard->bytes;
    memcpy(guard->bytes, bytes, guard->length);
    guard->descriptor = descriptor;
    guard->is_armed = 1;
    if (was_armed) return;
    stack_t stack = {.ss_sp = guard->stack, .ss_size = sizeof guard->stack};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = netwatch_guard_restore, .sa_flags = SA_ONSTACK};
    // SIGTTOU among them: a process in the background may put the settings back, too.
    sigfillset(&action.sa_mask);
    for (int position = 0; position < netwatch_crash_count; position++) {
        sigaction(netwatch_crashes[position], &action, &guard->before[position]);
    }
}

/// Has crashes do what they did before.
static inline void netwatch_guard_disarm(void) {
    struct netwatch_guard *guard = netwatch_guard_state();
    if (!guard->is_armed) return;
    guard->is_armed = 0;
    for (int position = 0; position < netwatch_crash_count; position++) {
        sigaction(netwatch_crashes[position], &guard->before[position], 0);
    }
}
