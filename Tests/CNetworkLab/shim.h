// What glibc declares only under _GNU_SOURCE, which Swift's Glibc module goes without.
#pragma once

#include <sched.h>

/// unshare(2).
extern int unshare(int flags);
/// setns(2).
extern int setns(int descriptor, int type);

/// CLONE_NEWNET (linux/sched.h).
static const int labNewNetwork = 0x40000000;
