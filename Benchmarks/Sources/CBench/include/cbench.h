// What the benchmarks' C programs share: clocks, pinning, one netlink socket, a route message.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

/// CLOCK_MONOTONIC in nanoseconds; the same clock in every process of the machine.
int64_t bench_now(void);

/// Ends the program with a message on stderr and status 1.
_Noreturn void bench_fail(const char *what);

/// Pins the calling thread to one CPU; a negative number leaves it free.
void bench_pin(int cpu);

/// A rtnetlink socket; groups are RTMGRP_* bits, buffer is SO_RCVBUF's size in bytes (0: the default).
int bench_netlink(uint32_t groups, int buffer);

/// Writes a complete RTM_NEWROUTE or RTM_DELROUTE for an IPv4 destination and returns its length.
size_t bench_route(void *buffer, uint16_t type, uint16_t flags, uint32_t destination, uint8_t length,
                   uint32_t gateway, int interface);

/// Sends one request and waits for its acknowledgement; returns the errno, 0 for success.
int bench_request(int socket, void *message, size_t length);
