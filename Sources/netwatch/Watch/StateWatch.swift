import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// Prints the current state, then a line for each change, until a signal arrives or the reader is gone.
struct StateWatch {
    /// How to print.
    var format: ChangeFormat
    /// The configuration of the monitor.
    var configuration: MonitorConfiguration
    /// The hook to run on each change.
    var hook: Hook?

    /// Watches.
    func run() throws(ToolError) -> ExitStatus {
        let printer = ChangePrinter(format)
        let report = ServiceReport(.take())
        let inbox = hook == nil ? nil : HookInbox()
        // The signal of a child's end must not be ignored, even if this process was started so.
        if hook != nil { signal(SIGCHLD, SIG_DFL) }
        let wakeup = try Wakeup.open()
        let session = try MonitorSession(
            configuration,
            wakeup: wakeup,
            signals: [SIGINT, SIGTERM] + (hook == nil ? [] : [SIGCHLD]),
            output: STDOUT_FILENO
        ) { change in
            let time = SystemClock.wall
            inbox?.put(change, at: time)
            let isPrinted = printer.print(change, at: time)
            if isPrinted { report.tell(change) }
            if !isPrinted || inbox != nil { wakeup.signal() }
        }
        if let hook, let inbox {
            try HookWatch(session: session, printer: printer, inbox: inbox, report: report).run(hook)
        }
        while hook == nil, try session.next(until: report.nextKeepAlive(after: SystemClock.now)) == .deadline {
            _ = session.monitor.perform { report.sendKeepAlive() }
        }
        if hook == nil { report.end() }
        printer.close()
        try session.stop()
        return try printer.failure?.end(writing: "stdout") ?? .success
    }
}

/// Prints changes on stdout as they arrive, on the event thread, until that fails or is closed.
///
/// `@unchecked Sendable`: the line is used only by ``print(_:)``, which only the event thread calls; the rest is
/// made for several threads.
final class ChangePrinter: @unchecked Sendable {
    /// In separate memory: each access to a class's variable would be checked for exclusivity.
    private let line: UnsafeMutablePointer<ChangeLine>
    private let isOpen = Atomic(true)
    private let failed = Mutex<OutputFailure?>(nil)

    init(_ format: ChangeFormat) {
        line = .allocate(capacity: 1)
        line.initialize(to: .init(format))
    }

    deinit {
        line.deinitialize(count: 1)
        line.deallocate()
    }

    /// Why nothing is printed any more, if that is why.
    var failure: OutputFailure? { failed.withLock { $0 } }

    /// Stops printing: the last changes of a monitor that stops do not describe the network.
    func close() { isOpen.store(false, ordering: .releasing) }

    /// Prints a change with its time; false if that failed, now or before.
    func print(_ change: ReachabilityChange, at time: Timestamp) -> Bool {
        guard isOpen.load(ordering: .acquiring) else { return failure == nil }
        line.pointee.set(change, at: time)
        do throws(OutputFailure) {
            try line.pointee.write(to: .standard)
            return true
        } catch {
            failed.withLock { $0 = error }
            close()
            return false
        }
    }
}

/// Runs a hook while lines are printed, until a signal arrives or the reader is gone.
///
/// A hook that runs then may use its time; a second signal ends it.
struct HookWatch {
    /// The monitor.
    let session: MonitorSession
    /// The printer of changes.
    let printer: ChangePrinter
    /// The inbox of the hook.
    let inbox: HookInbox

    /// The report to the service manager.
    let report: ServiceReport

    /// Runs the hook.
    func run(_ hook: Hook) throws(ToolError) {
        var runner = HookRunner(hook, mask: session.inheritedMask)
        var isEnding = false
        var keepAlive = report.nextKeepAlive(after: SystemClock.now)
        while !(isEnding && runner.isIdle) {
            let deadline = [runner.deadline, keepAlive].compactMap(\.self).min()
            let awakening = try session.next(until: deadline, watchesOutput: !isEnding)
            // Before a hook's end is handled, so that the next hook gets the newest change.
            if !isEnding, let (change, time) = inbox.take() { runner.post((change, time)) }
            if let due = keepAlive, SystemClock.now >= due {
                _ = session.monitor.perform { [report] in report.sendKeepAlive() }
                keepAlive = report.nextKeepAlive(after: SystemClock.now)
            }
            switch awakening {
            case .signal(let signal) where signal.number == SIGCHLD: runner.reap()
            case .signal where isEnding: runner.endNow()
            case .wakeup where isEnding || printer.failure == nil: break
            case .deadline: runner.tick()
            case .signal, .outputClosed, .wakeup:
                isEnding = true
                runner.close()
                report.end()
                printer.close()
            }
        }
    }
}
