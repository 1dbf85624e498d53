public import Glibc

/// Nanoseconds of a clock.
public func nanoseconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Int {
    var time = timespec()
    clock_gettime(clock, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// How many allocations this process has made, with `count-allocations.so` preloaded; else -1.
public func allocationCount() -> Int {
    typealias Count = @convention(c) () -> Int
    return dlsym(nil, "allocation_count").map { unsafeBitCast($0, to: Count.self)() } ?? -1
}

/// Writes a line to stdout at once, for a reader at the other end of a pipe.
public func tell(_ line: String) {
    (line + "\n").withCString { text in
        if write(STDOUT_FILENO, text, strlen(text)) < 0 { exit(1) }
    }
}
