import CNetlink
import Glibc
import ReachabilityCore

/// A file descriptor that is closed with the value.
struct Descriptor: ~Copyable {
    let number: Int32

    /// Takes over what a system call gave, or throws its errno.
    ///
    /// - Throws: ``MonitorError/Code/noResources`` if the number is negative.
    init(_ call: String, _ number: Int32) throws(MonitorError) {
        guard number >= 0 else { throw MonitorError(.noResources, errno: errno, call) }
        self.number = number
    }

    deinit { close(number) }
}

/// An eventfd(2), by which other threads wake the event thread.
struct WakeUp: ~Copyable {
    let descriptor: Descriptor

    init() throws(MonitorError) {
        descriptor = try Descriptor("eventfd", eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK)))
    }

    /// Makes the descriptor readable; any number of calls count as one.
    func signal() { _ = eventfd_write(descriptor.number, 1) }

    /// Waits for a signal, which stays, until a moment.
    func wait(until deadline: Instant) {
        var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, Poller.milliseconds(until: deadline))
    }

    /// Makes it unreadable again.
    func reset() {
        var count: eventfd_t = 0
        _ = eventfd_read(descriptor.number, &count)
    }
}

/// A timerfd_create(2) that becomes readable when the wall clock is set, as it is on resuming from suspend.
///
/// It costs no wake-ups: it expires in the farthest future, and is only ever cancelled.
struct ClockAlarm: ~Copyable {
    let descriptor: Descriptor

    init() throws(MonitorError) {
        let flags = Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)
        descriptor = try Descriptor("timerfd_create", timerfd_create(CLOCK_REALTIME, flags))
        arm()
    }

    /// Takes the notice, and waits for the next.
    func reset() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
        arm()
    }

    private func arm() {
        var time = itimerspec()
        time.it_value.tv_sec = Int(Int32.max) << 8
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        _ = timerfd_settime(descriptor.number, flags, &time, nil)
    }
}
