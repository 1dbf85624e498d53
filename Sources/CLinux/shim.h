// What the tool needs of Linux and the C library's Swift module leaves out.
#pragma once

#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// setns(2), which the C library declares for GNU sources only.
static inline int linux_setns(int descriptor, int type) { return (int)syscall(SYS_setns, descriptor, type); }
