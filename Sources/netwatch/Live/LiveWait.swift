import CommandLineSupport
import Glibc
import ReachabilityCore

/// What the live view waits for, all at once: signals, other threads, the keyboard, a slow terminal, and time (poll(2)).
struct LiveWait {
    /// Signals that came.
    let signals: SignalDescriptor
    /// What other threads wake it by.
    let wakeup: Wakeup
    /// The terminal.
    let device: TerminalDevice

    /// What has come.
    struct Events: OptionSet {
        let rawValue: UInt8
        /// Another thread has something.
        static let wakeup = Self(rawValue: 1)
        /// Something was typed.
        static let typed = Self(rawValue: 2)
        /// The terminal has gone.
        static let gone = Self(rawValue: 4)
    }

    /// Waits until something has come, a signal among it, or until a moment; nil is for ever.
    func wait(until deadline: Instant?) throws(SystemError) -> Events {
        let typing = Int16(POLLIN) | (device.isBehind ? Int16(POLLOUT) : 0)
        var descriptors = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: device.descriptor, events: typing, revents: 0),
        ]
        let timeout = deadline.map { SystemClock.now.duration(to: $0).pollTimeout } ?? -1
        _ = try retryingOnInterrupt { poll(&descriptors, nfds_t(descriptors.count), timeout) }
        var events: Events = []
        if descriptors[1].revents != 0 {
            wakeup.clear()
            events.insert(.wakeup)
        }
        let terminal = Int32(descriptors[2].revents)
        if terminal & POLLIN != 0 { events.insert(.typed) }
        if terminal & (POLLHUP | POLLERR | POLLNVAL) != 0 { events.insert(.gone) }
        return events
    }
}
