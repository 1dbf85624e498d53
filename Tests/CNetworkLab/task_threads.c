// Keeps the threads of Swift's tasks in the network namespace in which the process began.
//
// Dispatch starts such a thread on the thread that enqueues a task, if none is idle; the new one inherits the network
// namespace of the old one (clone(2)), keeps it, and runs any other test's tasks in it: their sockets are not where their
// servers listen. A thread of a test that is in another namespace therefore hands its tasks to a thread at home, which
// enqueues them. The hook is the runtime's own (swift/Runtime/Concurrency.h).
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef __attribute__((swiftcall)) void (*enqueue)(void *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original);

struct handed {
    struct handed *next;
    void *job;
    enqueue original;
};

static struct stat home;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrival = PTHREAD_COND_INITIALIZER;
static struct handed *first;
static struct handed **end = &first;

static bool is_at_home(void) {
    struct stat current;
    if (stat("/proc/thread-self/ns/net", &current) != 0) return true;
    return current.st_dev == home.st_dev && current.st_ino == home.st_ino;
}

static void hand_over(void *job, enqueue original) {
    struct handed *item = malloc(sizeof *item);
    if (item == NULL) abort();
    *item = (struct handed){NULL, job, original};
    pthread_mutex_lock(&mutex);
    *end = item;
    end = &item->next;
    pthread_cond_signal(&arrival);
    pthread_mutex_unlock(&mutex);
}

static struct handed *take(void) {
    pthread_mutex_lock(&mutex);
    while (first == NULL) pthread_cond_wait(&arrival, &mutex);
    struct handed *item = first;
    first = item->next;
    if (first == NULL) end = &first;
    pthread_mutex_unlock(&mutex);
    return item;
}

static void *enqueue_at_home(void *nothing) {
    while (true) {
        struct handed *item = take();
        item->original(item->job);
        free(item);
    }
    return nothing;
}

static __attribute__((swiftcall)) void hook(void *job, enqueue original) {
    if (is_at_home()) original(job);
    else hand_over(job, original);
}

// Before main(), as the first thread is at home then.
static __attribute__((constructor)) void install(void) {
    pthread_t thread;
    if (stat("/proc/self/ns/net", &home) != 0) return;
    if (pthread_create(&thread, NULL, enqueue_at_home, NULL) != 0) abort();
    pthread_detach(thread);
    swift_task_enqueueGlobal_hook = hook;
}
