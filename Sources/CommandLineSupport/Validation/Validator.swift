import Glibc
package import LinuxSystem
import Locking
package import NetwatchCore
import ReachabilityCore

/// Runs `netwatch-validate` and reads its reports, on a thread of its own; starts it again when it ends.
///
/// A process of its own, so that other executables link neither TLS nor an HTTP client.
package final class Validator: Sendable {
    private let program: ValidatorProgram
    private let arguments: [String]
    private let wakeup: Wakeup?
    private let receive: @Sendable (ValidationSummary?) -> Void
    private let stopped: Wakeup
    private let thread = SystemThread()
    private let state = Lock(State())

    /// The waits before it is started again; each is twice as long as the one before, unless it has run for longer.
    private static let delays = Duration.seconds(1)...Duration.seconds(60)

    private struct State {
        var report: ValidationSummary?
        var hasReported = false
        var failure: ToolError?
    }

    /// The user of a validator.
    package enum User: Sendable {
        /// A command, which ends with the validator's own error if it has one before its first report.
        case command
        /// A service, which only a wrong use ends; it notes on stderr that the validator is started again.
        case service
    }

    /// Creates a validator that is not started.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `netwatch-validate`.
    ///   - user: What uses it.
    ///   - folder: The folder that has it.
    ///   - wakeup: Signalled when there is a ``failure``.
    ///   - receive: Takes a report, on the thread; nil when there are none any more.
    /// - Throws: The error for the user if it is not installed.
    package init(
        _ arguments: [String],
        for user: User,
        folder: String = ExecutableDirectory.path,
        wakeup: Wakeup? = nil,
        receive: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) {
        program = try .init(folder: folder, user: user)
        self.arguments = arguments
        self.wakeup = wakeup
        self.receive = receive
        stopped = try Wakeup.open()
    }

    /// Starts a validator for a command.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `netwatch-validate`; nil if validation is off.
    ///   - wakeup: Signalled when there is a ``failure``.
    ///   - receive: Takes a report, on a thread; nil when there are none any more.
    /// - Returns: The validator; nil if validation is off.
    /// - Throws: The error for the user if it is not installed.
    package static func start(
        _ arguments: [String]?,
        wakeup: Wakeup,
        receive: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) -> Validator? {
        guard let arguments else { return nil }
        let validator = try Validator(arguments, for: .command, wakeup: wakeup, receive: receive)
        try validator.start()
        return validator
    }

    /// Asks the servers once, as `status` and `explain` do (`netwatch-validate --once`).
    ///
    /// - Parameter arguments: The other arguments of the process.
    /// - Returns: The report; nil if there was none in time.
    /// - Throws: The error to show if the executable is missing, or has failed.
    package static func query(_ arguments: [String]) throws(ToolError) -> ValidationSummary? {
        let program = try ValidatorProgram(folder: ExecutableDirectory.path, user: .command)
        // More than the slowest server has.
        let deadline = SystemClock.now.advanced(by: .seconds(30))
        let process: ValidatorProcess
        do throws(SystemError) { process = try program.start(["--once"] + arguments) } catch {
            throw ValidatorEnd.notStarted(error).error
        }
        switch process.next(until: deadline) {
        case .report(let report): return report
        case .ended(let end): throw end.error
        case .nothing: return nil
        }
    }

    /// The newest report; nil if there is none, or its process has ended.
    package var report: ValidationSummary? { state.withLock { $0.report } }

    /// Why it can't run, which no further attempt changes; nil if it can.
    package var failure: ToolError? { state.withLock { $0.failure } }

    /// Throws the ``failure``, if there is one.
    package func check() throws(ToolError) {
        if let failure { throw failure }
    }

    /// Starts the thread.
    package func start() throws(ToolError) {
        do throws(SystemError) { try thread.start("validator") { [self] in run() } } catch {
            throw error.toolError("start the validator")
        }
    }

    /// Ends the process and the thread; waits for that.
    package func stop() {
        stopped.signal()
        thread.waitForEnd()
    }

    // MARK: The thread

    private func run() {
        var delay = Self.delays.lowerBound
        var hasNoted = false
        while true {
            let start = SystemClock.now
            guard let end = follow() else { return }
            state.withLock {
                $0.report = nil
                $0.failure = program.failure(end, hasReported: $0.hasReported)
            }
            receive(nil)
            if failure != nil {
                wakeup?.signal()
                return
            }
            let hasLasted = start.duration(to: SystemClock.now) > Self.delays.upperBound
            if hasLasted { (delay, hasNoted) = (Self.delays.lowerBound, false) }
            if !hasNoted { program.note(end) }
            hasNoted = true
            if stopped.wait(until: SystemClock.now.advanced(by: delay)) { return }
            delay = min(delay * 2, Self.delays.upperBound)
        }
    }

    /// Runs the process, and passes on its reports.
    ///
    /// - Returns: How it has ended; nil if the validator is to stop.
    private func follow() -> ValidatorEnd? {
        let process: ValidatorProcess
        do throws(SystemError) { process = try program.start(arguments) } catch { return .notStarted(error) }
        while !stopped.wait(until: SystemClock.now) {
            switch process.next(wakeup: stopped) {
            case .report(let report):
                state.withLock { ($0.report, $0.hasReported) = (report, true) }
                receive(report)
            case .ended(let end): return end
            case .nothing: return nil
            }
        }
        return nil
    }
}

/// The executable `netwatch-validate`, and what its failures mean to what uses it.
private struct ValidatorProgram {
    let path: String
    let user: Validator.User

    /// The name of the executable, and of the package that has it.
    private static let name = "netwatch-validate"

    /// Finds the executable.
    ///
    /// - Throws: The error for the user if it is not installed.
    init(folder: String, user: Validator.User) throws(ToolError) {
        path = "\(folder)/\(Self.name)"
        self.user = user
        guard access(path, X_OK) == 0 else { throw missing(.last) }
    }

    func start(_ arguments: [String]) throws(SystemError) -> ValidatorProcess {
        try .init([path] + arguments, keepsErrors: user == .command)
    }

    /// Returns the failure that is the end of a process; nil if it is to be started again.
    func failure(_ end: ValidatorEnd, hasReported: Bool) -> ToolError? {
        switch user {
        case .command: return hasReported || end.isKill ? nil : end.error
        case .service:
            guard end.status == ExitStatus.usage.rawValue else { return nil }
            let words = "\(Self.name) does not take its arguments, see above; check --validate and --validation"
            return .init(words, exit: .usage)
        }
    }

    /// Notes that it is started again, where that disturbs nobody.
    func note(_ end: ValidatorEnd) {
        guard user == .service else { return }
        StandardError.note("\(Self.name) \(end.words); it is started again, at intervals that grow to 60 s")
    }

    private func missing(_ error: SystemError) -> ToolError {
        let shown = path.escapedForTerminal
        let isMissing = error.code == ENOENT
        switch user {
        case .command where isMissing:
            let words = "--validate needs \(Self.name), and there is no '\(shown)'; install the package \(Self.name)"
            let hint = "or run './scripts/netwatch validate --help' in a checkout, which builds it"
            return .init("\(words), \(hint)", exit: .unavailable)
        case .command:
            return .init("--validate: cannot execute '\(shown)': \(error); reinstall \(Self.name)", exit: .unavailable)
        case .service:
            let words = "cannot execute '\(shown)', which asks the servers: \(error); install the package \(Self.name)"
            return .init(words, exit: isMissing ? .commandNotFound : .notExecutable)
        }
    }
}
