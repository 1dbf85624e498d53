// What glibc declares only under _GNU_SOURCE, which Swift's Glibc module goes without.
#pragma once

#include <malloc.h>
#include <spawn.h>
#include <sys/eventfd.h>

/// unshare(2).
extern int unshare(int flags);
/// setns(2).
extern int setns(int descriptor, int type);

/// posix_spawn_file_actions_addchdir_np(3).
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
/// posix_spawn_file_actions_addclosefrom_np(3).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

/// CLONE_NEWNET (linux/sched.h).
static const int labNewNetwork = 0x40000000;
/// CLONE_NEWNS (linux/sched.h).
static const int labNewMounts = 0x20000;

/// accept4(2).
struct sockaddr;
extern int accept4(int descriptor, struct sockaddr *address, unsigned int *length, int flags);

/// POLLRDHUP (poll(2)): the peer has closed, or shut down its writing half.
static const short labPeerClosed = 0x2000;

/// sched_setaffinity(2), sched_getaffinity(2): the masks as bytes.
extern int sched_setaffinity(int task, unsigned long size, const void *mask);
extern int sched_getaffinity(int task, unsigned long size, void *mask);
