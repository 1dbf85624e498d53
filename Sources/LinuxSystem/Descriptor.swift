import CLinux
import Glibc
package import ReachabilityCore

/// A file descriptor that is closed with the value.
package struct Descriptor: ~Copyable, Sendable {
    /// The descriptor's number, for system calls.
    package let number: Int32

    /// Opens a descriptor.
    ///
    /// - Parameters:
    ///   - name: The function, for the error.
    ///   - open: Calls it; the value owns the descriptor that it returns.
    /// - Throws: The errno of the call.
    package init(_ name: String, opening open: () -> Int32) throws(SystemError) {
        number = try retryingOnInterrupt(name, open)
    }

    deinit { close(number) }
}

/// Wakes a thread that waits for descriptors.
///
/// The corresponding C function is `eventfd`. It may be signalled from any thread: the kernel synchronises its use.
package final class Wakeup: Sendable {
    private let handle: Descriptor

    /// Opens the descriptor.
    ///
    /// - Throws: The errno of eventfd(2).
    package init() throws(SystemError) {
        handle = try Descriptor("eventfd") { eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)) }
    }

    /// The descriptor, readable from ``signal()`` until ``clear()``.
    package var descriptor: Int32 { handle.number }

    /// Makes the descriptor readable; any number of calls count as one.
    package func signal() {
        // It fails only if 2^64 signals are pending, and then the descriptor is readable anyway.
        _ = eventfd_write(descriptor, 1)
    }

    /// Makes the descriptor unreadable again.
    package func clear() {
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor, &count)
    }

    /// Waits for a signal, which stays pending.
    ///
    /// - Parameter deadline: When to stop waiting.
    /// - Returns: Whether there is a signal.
    @discardableResult
    package func wait(until deadline: Instant) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return (try? retryingOnInterrupt("poll") { poll(&entry, 1, deadline.pollTimeout) }) == 1
    }
}

/// A timer that becomes readable when the wall clock is set, as it is when the machine resumes from suspend.
///
/// The corresponding C function is `timerfd_create`. The timer never expires, so it wakes no thread.
package struct ClockChangeTimer: ~Copyable, Sendable {
    private let handle: Descriptor

    /// Opens the timer.
    ///
    /// - Throws: The errno of timerfd_create(2).
    package init() throws(SystemError) {
        handle = try Descriptor("timerfd_create") {
            timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        }
        arm()
    }

    /// The descriptor, readable from a change of the clock until ``reset()``.
    package var descriptor: Int32 { handle.number }

    /// Waits for the next change of the clock.
    package func reset() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        arm()
    }

    /// Sets the timer to the farthest future (timerfd_settime(2)).
    private func arm() {
        var time = itimerspec()
        time.it_value.tv_sec = Int(Int32.max) << 8
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        _ = timerfd_settime(descriptor, flags, &time, nil)
    }
}
