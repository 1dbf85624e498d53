// Tells the thread sanitizer what a task has from the thread that resumes its continuation before the task sleeps.
//
// The runtime is not instrumented. It tells the sanitizer that the resuming thread lets go (swift_continuation_resume), and
// that a task which slept takes over (swift_job_run); not that a task which never slept does, and everything that such a
// task was given is a race to the sanitizer. Here, every continuation of the instrumented code continues with a function
// that tells it. The calls and the layout of the context are the compiler's interface to the runtime (swift/ABI/Task.h,
// ContinuationAsyncContext).
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct context;
typedef __attribute__((swiftasynccall)) void (*function)(__attribute__((swift_async_context)) struct context *context);

struct context {
    struct context *parent;
    function resume;
    // The low bits are the runtime's; those above hold the function that the compiler put in `resume`.
    uintptr_t flags;
};

static const int flag_bits = 16;

typedef __attribute__((swiftcall)) void *(*initialize)(struct context *context, uintptr_t flags);
static initialize original;

extern __attribute__((swiftcall)) void *swift_task_getCurrent(void);
extern void __tsan_acquire(void *address);

static __attribute__((constructor)) void install(void) {
    original = (initialize)dlsym(RTLD_NEXT, "swift_continuation_init");
    if (original == NULL) abort();
}

__attribute__((no_sanitize("thread"), swiftasynccall)) static void take_over(
    __attribute__((swift_async_context)) struct context *context
) {
    __tsan_acquire(swift_task_getCurrent());
    return ((function)(context->flags >> flag_bits))(context);
}

// In place of the runtime's function, which it calls.
__attribute__((no_sanitize("thread"), swiftcall)) void *swift_continuation_init(struct context *context, uintptr_t flags) {
    uintptr_t resume = (uintptr_t)context->resume;
    if (resume << flag_bits >> flag_bits != resume || flags >> flag_bits != 0) abort();
    context->resume = take_over;
    void *task = original(context, flags);
    context->flags |= resume << flag_bits;
    return task;
}
#endif
#endif
