#pragma once
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <unistd.h>

/* Whether the kernel's clock is synchronized (adjtimex(2)): setting it by hand ends that. */
static inline int netwatch_clock_is_synchronized(void) {
    struct timex values = { .modes = 0 };
    return adjtimex(&values) >= 0 && !(values.status & STA_UNSYNC);
}

/* copy_file_range(2), which the C library declares for GNU sources only; both files continue at their positions. */
static inline ssize_t netwatch_copy_file_range(int from, int to, size_t length) {
    return syscall(SYS_copy_file_range, from, (void *)0, to, (void *)0, length, 0);
}

/* A descriptor of a folder that may not be read, only searched (open(2), O_PATH); the last part is no symbolic link. */
static inline int netwatch_open_path(const char *path) {
    return open(path, 010000000 | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* syncfs(2), which the C library declares for GNU sources only. */
static inline int netwatch_syncfs(int file) { return syscall(SYS_syncfs, file); }
