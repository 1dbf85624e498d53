import CLinux
import Glibc
package import LinuxSystem
package import ReachabilityCore

/// The wait of the main thread: for signals, a wakeup, and the end of stdout's reader.
package struct MainWait {
    private let signals: SignalDescriptor
    private let wakeup: Wakeup
    private let output: Int32?

    /// Creates a wait.
    ///
    /// - Parameters:
    ///   - signals: Signals that end a wait.
    ///   - wakeup: What other threads wake it by.
    ///   - output: A descriptor whose reader's end is waited for too.
    package init(signals: SignalDescriptor, wakeup: Wakeup, output: Int32? = nil) {
        self.signals = signals
        self.wakeup = wakeup
        self.output = output
    }

    /// Sleeps until an event, or until the deadline; nil for no limit.
    ///
    /// - Parameters:
    ///   - deadline: When to wake in any case.
    ///   - watchesOutput: Whether the output's end wakes it.
    /// - Returns: What woke it.
    /// - Throws: The errno of poll(2).
    package func next(until deadline: Instant? = nil, watchesOutput: Bool = true) throws(SystemError) -> Awakening {
        while true {
            if let signal = signals.next() { return .signal(signal) }
            var descriptors = [
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
                // No event is requested: errors and hang-ups are always reported.
                pollfd(fd: watchesOutput ? output ?? -1 : -1, events: 0, revents: 0),
            ]
            let ready = try retryingOnInterrupt {
                poll(&descriptors, nfds_t(descriptors.count), deadline?.pollTimeout ?? -1)
            }
            if ready == 0, let deadline, SystemClock.now >= deadline { return .deadline }
            if descriptors[1].revents != 0 {
                wakeup.clear()
                return .wakeup
            }
            if descriptors[2].revents != 0 { return .outputClosed }
        }
    }
}

/// The event that ended a wait.
package enum Awakening: Hashable {
    /// A signal was received.
    case signal(ReceivedSignal)
    /// Another thread has an update.
    case wakeup
    /// The output's reader is gone.
    case outputClosed
    /// The time is up.
    case deadline
}

extension Wakeup {
    /// Opens a wake-up for the main thread.
    ///
    /// - Throws: The error to show if the kernel refuses a descriptor.
    package static func open() throws(ToolError) -> Wakeup {
        do throws(SystemError) { return try Wakeup() } catch { throw error.toolError("wait for events") }
    }
}
