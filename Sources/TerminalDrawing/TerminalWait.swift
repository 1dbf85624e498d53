package import CommandLineSupport
import Glibc
package import LinuxSystem
package import ReachabilityCore

/// The events that a view on a terminal waits for: signals, other threads, the keyboard, a slow terminal, and time (poll(2)).
package struct TerminalWait {
    /// Received signals.
    package let signals: SignalDescriptor
    /// The wakeup for other threads.
    package let wakeup: Wakeup
    /// The terminal.
    package let device: TerminalDevice

    package init(signals: SignalDescriptor, wakeup: Wakeup, device: TerminalDevice) {
        self.signals = signals
        self.wakeup = wakeup
        self.device = device
    }

    /// The events of a wait.
    package struct Events: OptionSet {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Another thread has something.
        package static let wakeup = Self(rawValue: 1)
        /// Something was typed.
        package static let typed = Self(rawValue: 2)
        /// The terminal is closed.
        package static let gone = Self(rawValue: 4)
    }

    /// Waits for any input, including signals, or until a moment; nil for no limit.
    package func wait(until deadline: Instant?) throws(SystemError) -> Events {
        let typing = Int16(POLLIN) | (device.isBehind ? Int16(POLLOUT) : 0)
        var descriptors = [
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: device.descriptor, events: typing, revents: 0),
        ]
        let timeout = deadline?.pollTimeout ?? -1
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
