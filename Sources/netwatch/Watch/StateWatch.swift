import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
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
    /// The arguments of `netwatch-validate`; nil if validation is off.
    var validation: [String]?

    /// Watches.
    func run() throws(ToolError) -> ExitStatus {
        let printer = ChangePrinter(format)
        let report = ServiceReport(.take())
        let inbox = hook == nil ? nil : HookInbox()
        // The signal of a child's end must not be ignored, even if this process was started so.
        if hook != nil { signal(SIGCHLD, SIG_DFL) }
        let wakeup = try Wakeup.open()
        let tell: @Sendable (ValidatedChange, Timestamp) -> Void = { told, time in
            inbox?.put(told, at: time)
            let isPrinted = printer.print(told, at: time)
            if isPrinted, !told.isOfValidation { report.tell(told.change) }
            if !isPrinted || inbox != nil { wakeup.signal() }
        }
        let changes = validation.map { _ in ValidatedChanges { tell($0, SystemClock.wall) } }
        let session = try MonitorSession(
            configuration,
            wakeup: wakeup,
            signals: [SIGINT, SIGTERM] + (hook == nil ? [] : [SIGCHLD]),
            output: STDOUT_FILENO
        ) { change in
            if let changes { changes.take(change) } else { tell(.init(change: change), SystemClock.wall) }
        }
        let validator = try validator(changes, session)
        if let hook, let inbox {
            try HookWatch(session: session, printer: printer, inbox: inbox, report: report, validator: validator).run(
                hook
            )
        }
        while hook == nil, try session.next(until: report.nextKeepAlive(after: SystemClock.now)) == .deadline {
            _ = session.monitor.perform { report.sendKeepAlive() }
        }
        if hook == nil { report.end() }
        printer.close()
        session.stop()
        try validator?.check()
        return try printer.failure?.end(writing: "stdout") ?? .success
    }

    /// Starts validation, if it is on, after the signals were blocked.
    private func validator(_ changes: ValidatedChanges?, _ session: MonitorSession) throws(ToolError) -> Validator? {
        guard let changes else { return nil }
        return try .start(validation, wakeup: session.wakeup) { changes.take($0) }
    }
}

/// Prints changes on stdout as they arrive, until that fails or is closed.
///
/// `@unchecked Sendable`: the line is used only by ``print(_:at:)``, which one thread calls at a time: the event thread,
/// with validation under the lock of ``ValidatedChanges``. The rest is made for several threads.
final class ChangePrinter: @unchecked Sendable {
    /// In separate memory: each access to a class's variable would be checked for exclusivity.
    private let line: UnsafeMutablePointer<ChangeLine>
    private let isOpen = Atomic(true)
    private let failed = Lock<OutputFailure?>(nil)

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
    func print(_ told: ValidatedChange, at time: Timestamp) -> Bool {
        guard isOpen.load(ordering: .acquiring) else { return failure == nil }
        line.pointee.set(told, at: time)
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

    /// The reports about the path; nil if validation is off.
    let validator: Validator?

    private var hasFailed: Bool { printer.failure != nil || validator?.failure != nil }

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
            case .wakeup where isEnding || !hasFailed: break
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
