// Keeps the threads of Swift's tasks, and of all queues of Dispatch, in the network namespace in which the process began.
//
// Dispatch starts such a thread on the thread that enqueues something, if none is idle; the new one inherits the network
// namespace of the old one (clone(2)), keeps it, and runs any other test's tasks in it: their sockets are not where their
// servers listen. A thread that Dispatch starts therefore first goes home. Others stay where they were started.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef void *(*body)(void *);
typedef int (*create)(pthread_t *thread, const pthread_attr_t *attributes, body start, void *argument);

struct beginning {
    body start;
    void *argument;
};

static int home = -1;
static struct stat home_status;

// Before main(), as the first thread is at home then.
static __attribute__((constructor)) void install(void) {
    home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home >= 0 && fstat(home, &home_status) != 0) abort();
}

static bool is_at_home(void) {
    struct stat current;
    if (home < 0 || stat("/proc/thread-self/ns/net", &current) != 0) return true;
    return current.st_dev == home_status.st_dev && current.st_ino == home_status.st_ino;
}

static bool is_of_dispatch(body start) {
    Dl_info place;
    if (dladdr((void *)start, &place) == 0 || place.dli_fname == NULL) return false;
    return strstr(place.dli_fname, "/libdispatch.so") != NULL;
}

static void *begin_at_home(void *argument) {
    struct beginning beginning = *(struct beginning *)argument;
    free(argument);
    if (setns(home, CLONE_NEWNET) != 0) {
        perror("a thread of Dispatch can't leave the network namespace of a test");
        abort();
    }
    return beginning.start(beginning.argument);
}

// The thread sanitizer's, in a build for it.
extern int __interceptor_pthread_create(pthread_t *, const pthread_attr_t *, body, void *) __attribute__((weak));

static create original(void) {
    if (__interceptor_pthread_create != NULL) return __interceptor_pthread_create;
    create found = (create)dlsym(RTLD_NEXT, "pthread_create");
    if (found == NULL) abort();
    return found;
}

// In place of the C library's function, which it calls.
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, body start, void *argument) {
    if (is_at_home() || !is_of_dispatch(start)) return original()(thread, attributes, start, argument);
    struct beginning *beginning = malloc(sizeof *beginning);
    if (beginning == NULL) abort();
    *beginning = (struct beginning){start, argument};
    int code = original()(thread, attributes, begin_at_home, beginning);
    if (code != 0) free(beginning);
    return code;
}
