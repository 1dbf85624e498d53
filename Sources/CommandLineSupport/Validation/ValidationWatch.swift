package import CLinux
import Glibc
import LinuxSystem
package import NetwatchCore
import ReachabilityCore
import Synchronization

/// Follows the reports of `netwatch-validate`, on a thread of its own, and starts it again if it ends.
package final class ValidationWatch: Sendable {
    private let stopped: Wakeup

    /// What is told.
    package enum Update: Sendable {
        /// A report; nil if the process that made the last one has ended, until the next one has its own.
        case report(ValidationSummary?)
        /// It has ended before its first report, and is not started again.
        case failed(ToolError)
    }

    /// The pauses before it is started again.
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    /// Starts the process, and the thread.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the process.
    ///   - mask: The blocked signals that it starts with; nil for those of the calling thread.
    ///   - sink: Called on the thread with each update.
    /// - Throws: The error to show if the executable is missing, or the kernel refuses a resource.
    package init(
        _ arguments: [String],
        mask: sigset_t? = nil,
        sink: @escaping @Sendable (Update) -> Void
    ) throws(ToolError) {
        let stopped = try Wakeup.open()
        self.stopped = stopped
        // A process whose end is ignored leaves no exit status (wait(2)).
        signal(SIGCHLD, SIG_DFL)
        let first = Mutex<ValidatorProcess?>(try .init(arguments, mask: mask))
        do throws(SystemError) {
            try SystemThread.detach("netwatch-valid") {
                var process = first.withLock { process in
                    defer { process = nil }
                    return process
                }
                Self.run(&process, stopped, sink) { () throws(ToolError) in try .init(arguments, mask: mask) }
            }
        } catch {
            throw error.toolError("start a thread")
        }
    }

    deinit { stopped.signal() }

    /// Ends the process and the thread soon.
    package func stop() { stopped.signal() }

    private static func run(
        _ process: inout ValidatorProcess?,
        _ stopped: Wakeup,
        _ sink: (Update) -> Void,
        restart: () throws(ToolError) -> ValidatorProcess
    ) {
        var pause = shortestPause
        var hasReported = false
        while !stopped.wait(until: SystemClock.now) {
            switch process?.next(wakeup: stopped) {
            case .report(let report)?:
                (hasReported, pause) = (true, shortestPause)
                sink(.report(report))
            case .ended(let error)? where !hasReported: return sink(.failed(error))
            case .ended?, nil:
                process = nil
                sink(.report(nil))
                if stopped.wait(until: SystemClock.now.advanced(by: pause)) { return }
                pause = min(pause * 2, longestPause)
                process = try? restart()
            case .nothing?: break
            }
        }
    }
}

/// Asks servers once, as `status` and `explain` do.
package enum ValidationQuery {
    /// The time limit: more than the slowest server has.
    private static let timeout = Duration.seconds(30)

    /// Starts `netwatch-validate --once`, and waits for its report.
    ///
    /// - Parameter arguments: The other arguments of the process.
    /// - Returns: The report; nil if there was none in time.
    /// - Throws: The error to show if the executable is missing, or has failed.
    package static func report(_ arguments: [String]) throws(ToolError) -> ValidationSummary? {
        signal(SIGCHLD, SIG_DFL)
        let process = try ValidatorProcess(["--once"] + arguments)
        switch process.next(until: SystemClock.now.advanced(by: timeout)) {
        case .report(let report): return report
        case .ended(let error): throw error
        case .nothing: return nil
        }
    }
}
