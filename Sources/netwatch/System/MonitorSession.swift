import Glibc
import Reachability
import ReachabilityCore
import Synchronization

/// A running monitor, and the main thread's wait beside it.
///
/// The monitor is not stopped at the end: the process ends, and a line that waits for a slow reader must not keep it.
struct MonitorSession {
    /// The monitor.
    let engine: MonitorEngine
    /// Told to wake the main thread.
    let wakeup: Wakeup
    /// The signals that were blocked before, with which commands start.
    let inheritedMask: sigset_t
    private let wait: MainWait

    /// Starts a monitor.
    ///
    /// - Parameters:
    ///   - configuration: What to watch.
    ///   - signals: Signals that end a wait instead of the process.
    ///   - output: A descriptor whose reader's end ends a wait.
    ///   - sink: Called on the event thread with each notice; it wakes the main thread by the wake-up it is given.
    /// - Throws: What to tell the user.
    init(
        _ configuration: MonitorConfiguration,
        signals: [Int32] = [],
        output: Int32? = nil,
        sink: @escaping @Sendable (StateChange, Wakeup) -> Void
    ) throws(ToolError) {
        do throws(SystemError) {
            // Before the event thread starts, which inherits the blocked signals.
            let descriptor = signals.isEmpty ? nil : try SignalDescriptor(signals)
            let wakeup = try Wakeup()
            self.wakeup = wakeup
            inheritedMask = descriptor?.previousMask ?? sigset_t()
            wait = MainWait(signals: descriptor, wakeup: wakeup, output: output)
            engine = MonitorEngine(configuration) { sink($0, wakeup) }
        } catch {
            throw error.toolError("wait for events")
        }
        do throws(MonitorError) { try engine.start() } catch { throw error.toolError }
    }

    /// Sleeps until something comes, or until the deadline; nil is for ever.
    func next(until deadline: Instant? = nil) throws(ToolError) -> Awakening {
        do throws(SystemError) {
            return try wait.next(until: deadline)
        } catch {
            throw error.toolError("wait for events")
        }
    }
}
