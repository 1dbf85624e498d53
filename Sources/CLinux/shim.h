// What the tool needs of Linux and the C library's Swift module leaves out.
#pragma once

#include <sys/eventfd.h>
#include <sys/signalfd.h>

// setns(2) and pipe(2), declared for _GNU_SOURCE only; that would change types which the Swift module has already.
extern int setns(int descriptor, int type);
extern int pipe2(int descriptors[2], int flags);
