import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import Reachability
import ReachabilityCore

/// A running monitor, for whose changes the main thread waits.
struct MonitorSession {
    /// The monitor.
    let monitor: ReachabilityMonitor
    /// Told to wake the main thread.
    let wakeup: Wakeup
    /// The signals that were blocked before, with which commands start.
    let inheritedMask: sigset_t
    private let wait: MainWait
    private let subscription: Subscription

    /// Starts a monitor.
    ///
    /// - Parameters:
    ///   - configuration: The monitor's configuration.
    ///   - wakeup: The event by which the sink wakes the main thread.
    ///   - signals: Signals that end a wait instead of the process.
    ///   - output: A descriptor whose reader's end ends a wait.
    ///   - sink: Called on the event thread with each change.
    /// - Throws: An error with a text for the user.
    init(
        _ configuration: MonitorConfiguration,
        wakeup: Wakeup,
        signals: [Int32] = [],
        output: Int32? = nil,
        sink: @escaping @Sendable (ReachabilityChange) -> Void
    ) throws(ToolError) {
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        inheritedMask = mask
        // Before the event thread starts, which inherits the blocked signals.
        let descriptor: SignalDescriptor
        do throws(SystemError) { descriptor = try .init(signals) } catch { throw error.toolError("wait for signals") }
        self.wakeup = wakeup
        wait = MainWait(signals: descriptor, wakeup: wakeup, output: output)
        monitor = try ToolError.wrapping(try ReachabilityMonitor(configuration: configuration))
        subscription = monitor.subscribe(on: .immediate, sink)
    }

    /// Sleeps until an event, or until the deadline; nil for no limit.
    ///
    /// - Parameters:
    ///   - deadline: When to wake in any case.
    ///   - watchesOutput: Whether the output's end, which lasts, wakes it.
    /// - Returns: The event.
    /// - Throws: An error with a text for the user.
    func next(until deadline: Instant? = nil, watchesOutput: Bool = true) throws(ToolError) -> Awakening {
        do throws(SystemError) {
            return try wait.next(until: deadline, watchesOutput: watchesOutput)
        } catch {
            throw error.toolError("wait for events")
        }
    }

    /// Stops the monitor, so that its current output is completed.
    ///
    /// A blocked reader delays the end of the process by at most a second.
    func stop() { monitor.stop(within: .seconds(1)) }
}

extension ReachabilityMonitor {
    /// Stops the monitor on a thread of its own, because what it writes to may be blocked.
    ///
    /// - Parameter timeout: How long to wait for that.
    /// - Returns: Whether it has stopped.
    @discardableResult
    func stop(within timeout: Duration) -> Bool {
        do throws(SystemError) {
            let done = try Wakeup()
            try SystemThread.detach("netwatch-stop") {
                self.stop()
                done.signal()
            }
            return done.wait(until: SystemClock.now.advanced(by: timeout))
        } catch {
            return false
        }
    }
}
