import CommandLineSupport
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Runs `netwatch-validate` and reads its reports, on a thread of its own; starts it again when it ends.
///
/// A process of its own, so that the service links neither TLS nor an HTTP client.
final class Validator: Sendable {
    private let words: [String]
    private let receive: @Sendable (ValidationSummary?) -> Void
    private let wakeup: Wakeup
    private let thread = SystemThread()
    private let isStopped = Atomic(false)
    private let failed = Lock<ToolError?>(nil)

    /// The waits before it is started again; each is twice as long as the one before, unless it has run for longer.
    private static let delays = Duration.seconds(1)...Duration.seconds(60)
    /// The name of the executable, and of the package that has it.
    private static let name = "netwatch-validate"

    /// Creates a validator that is not started.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of `netwatch-validate`.
    ///   - folder: The folder that has it.
    ///   - receive: Takes a report, on the thread; nil when there are none any more.
    /// - Throws: The error for the user if it is not installed.
    init(
        _ arguments: [String],
        folder: String = ExecutableDirectory.path,
        receive: @escaping @Sendable (ValidationSummary?) -> Void
    ) throws(ToolError) {
        let path = "\(folder)/\(Self.name)"
        guard access(path, X_OK) == 0 else {
            let error = SystemError(code: errno)
            let problem = "cannot execute '\(path.escapedForTerminal)', which asks the servers: \(error)"
            let status: ExitStatus = error.code == ENOENT ? .commandNotFound : .notExecutable
            throw .init("\(problem); install the package \(Self.name)", exit: status)
        }
        words = [path] + arguments
        self.receive = receive
        wakeup = try Wakeup.open()
    }

    /// Why it can't run, which no further attempt changes; nil if it can.
    var failure: ToolError? { failed.withLock { $0 } }

    /// Starts the thread.
    func start() throws(ToolError) {
        do throws(SystemError) { try thread.start("validator") { [self] in run() } } catch {
            throw error.toolError("start the validator")
        }
    }

    /// Ends the process and the thread; waits for that.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeup.signal()
        thread.waitForEnd()
    }

    // MARK: The thread

    private func run() {
        var delay = Self.delays.lowerBound
        var hasFailed = false
        while !isStopped.load(ordering: .acquiring) {
            let start = SystemClock.now
            let problem = follow()
            guard !isStopped.load(ordering: .acquiring) else { return }
            receive(nil)
            if failure != nil { return }
            let hasLasted = start.duration(to: SystemClock.now) > Self.delays.upperBound
            if hasLasted { (delay, hasFailed) = (Self.delays.lowerBound, false) }
            if !hasFailed { note(problem) }
            hasFailed = true
            wakeup.wait(until: SystemClock.now.advanced(by: delay))
            delay = min(delay * 2, Self.delays.upperBound)
        }
    }

    private func note(_ problem: String) {
        StandardError.note("\(Self.name) \(problem); it is started again, at intervals that grow to 60 s")
    }

    /// Runs the process until it ends.
    ///
    /// - Returns: How it has ended.
    private func follow() -> String {
        do throws(SystemError) {
            var process = try ValidatorProcess.start(words)
            let problem = readReports(of: &process)
            let status = process.end()
            if status == ExitStatus.usage.rawValue {
                let words = "\(Self.name) does not take its arguments, see above; check --validate and --validation"
                failed.withLock { $0 = .init(words, exit: .usage) }
                return words
            }
            return problem ?? "has ended\(status.map { " with status \($0)" } ?? "")"
        } catch {
            return "cannot be started: \(error)"
        }
    }

    /// Passes on reports until there are no more.
    ///
    /// - Returns: Why it is to be ended; nil if it has ended.
    private func readReports(of process: inout ValidatorProcess) -> String? {
        do {
            while let line = try process.line(wakeup) { receive(try ValidationSummary(decoding: line[...])) }
            return nil
        } catch {
            return "prints what is no report: \("\(error)".escapedForTerminal)"
        }
    }
}
