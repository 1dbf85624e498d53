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

    /// The signals that views wait for; of those that only end a process, none that it was started to ignore.
    package static var usualSignals: [Int32] {
        [SIGINT, SIGTERM, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH]
            + ([SIGHUP] + ending).filter { !SignalActions.isIgnored($0) }
    }

    /// The other signals whose default action is termination (signal(7)), except for crashes.
    private static let ending =
        [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT]
        + Array(realTimeSignals)

    /// The C library keeps the first two of the kernel's for itself.
    private static let realTimeSignals: ClosedRange<Int32> = 34...64
}
