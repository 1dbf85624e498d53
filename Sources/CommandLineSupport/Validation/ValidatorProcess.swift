import CLinux
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// A running `netwatch-validate`, which ends when this process does: the socket that is its stdin and stdout is closed then.
final class ValidatorProcess {
    private let process: HelperProcess
    private let connection: Descriptor
    private let errors: ErrorFile?
    private var buffer: [UInt8] = []
    private var hasEnded = false

    /// The longest line in bytes; a report has a few texts of limited length.
    private static let longestLine = 1 << 18

    /// Starts it.
    ///
    /// - Parameters:
    ///   - words: Its path and arguments.
    ///   - keepsErrors: Whether its stderr is kept for the error at its end; false to print it.
    /// - Throws: The errno if it can't be started.
    init(_ words: [String], keepsErrors: Bool) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        // Closed on exec, so that no other child keeps it open.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        _ = try retryingOnInterrupt("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        connection = try Descriptor("socketpair") { ends[0] }
        let other = try Descriptor("socketpair") { ends[1] }
        errors = keepsErrors ? try ErrorFile() : nil
        process = try .start(words, input: other.number, output: other.number, errors: errors?.descriptor)
    }

    deinit { _ = end() }

    /// An event of the process.
    enum Event {
        /// It has printed a report.
        case report(ValidationSummary)
        /// It has ended, or was ended because it prints something else.
        case ended(ValidatorEnd)
        /// Nothing before the deadline, or the wakeup.
        case nothing
    }

    /// Waits for its next report, or its end.
    ///
    /// - Parameters:
    ///   - deadline: When to return in any case; nil for never.
    ///   - wakeup: What else ends the wait.
    /// - Returns: What it has done.
    func next(until deadline: Instant? = nil, wakeup: Wakeup? = nil) -> Event {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return takeLine(upTo: end) }
            searched = buffer.count
            guard searched < Self.longestLine else { return .ended(.invalid(SystemError(code: EMSGSIZE))) }
            var descriptors = [
                pollfd(fd: connection.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let ready = poll(&descriptors, nfds_t(descriptors.count), deadline?.pollTimeout ?? -1)
            let isLate = ready == 0 && deadline.map { $0 <= SystemClock.now } == true
            if isLate || descriptors[1].revents != 0 { return .nothing }
            if descriptors[0].revents != 0, !read() { return .ended(outcome()) }
        }
    }

    private func takeLine(upTo end: Int) -> Event {
        defer { buffer.removeFirst(end + 1) }
        do throws(ValidationSummaryError) { return .report(try .init(decoding: buffer[..<end])) } catch {
            return .ended(.invalid(error))
        }
    }

    /// Reads more; false at the end.
    private func read() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        guard let count = try? retryingOnInterrupt("read", { Glibc.read(connection.number, &bytes, bytes.count) })
        else { return false }
        buffer += bytes.prefix(count)
        return count > 0
    }

    private func outcome() -> ValidatorEnd { .init(status: end(), errors: errors?.text ?? "") }

    /// Ends it, unless it has ended: it has nothing to save.
    ///
    /// - Returns: Its exit status; nil if that is not known.
    private func end() -> Int32? {
        guard !hasEnded else { return nil }
        hasEnded = true
        process.kill()
        return try? process.wait()
    }
}

/// How `netwatch-validate` has ended.
struct ValidatorEnd {
    /// The words after its name: `has ended with status 71`.
    let words: String
    /// The error for the user if nothing starts it again.
    let error: ToolError
    /// Its exit status, 128 plus the number of the signal that ended it; nil if it was ended, or never ran.
    let status: Int32?

    /// The end of a process that has exited, or that a signal has ended.
    ///
    /// - Parameters:
    ///   - status: Its exit status; 128 plus the number of the signal.
    ///   - errors: What it has written to stderr.
    init(status: Int32?, errors: String) {
        self.status = status
        words = "has ended\(status.map { " with status \($0)" } ?? "")"
        let prefix = "netwatch: "
        let line = errors.split(separator: "\n").first.flatMap { $0.hasPrefix(prefix) ? $0 : nil }
        if let line, let status, 1...128 ~= status {
            error = .init(line.dropFirst(prefix.count).escapedForTerminal, exit: .init(rawValue: status))
        } else {
            error = .init("netwatch-validate has ended before it was told to; try again", exit: .unavailable)
        }
    }

    private init(_ words: String, _ error: String) {
        self.words = words
        self.error = .init(error, exit: .unavailable)
        status = nil
    }

    /// Whether a signal has ended it, so that it may run if it is started again.
    var isKill: Bool { status.map { $0 > 128 } == true }

    /// The end of a process that has printed something else than a report.
    static func invalid(_ error: some Error) -> Self {
        let problem = "\(error)".escapedForTerminal
        return .init(
            "prints what is no report: \(problem)",
            "netwatch-validate: \(problem); install it of this version"
        )
    }

    /// A process that can't be started.
    static func notStarted(_ error: SystemError) -> Self {
        .init(
            "cannot be started: \(error)",
            "--validate: cannot execute netwatch-validate: \(error); reinstall netwatch-validate"
        )
    }
}

/// A file in memory for what a process writes to stderr (memfd_create(2)).
private final class ErrorFile {
    private let file: Descriptor

    /// The bytes that are read of it.
    private static let length = 2048

    init() throws(SystemError) {
        file = try Descriptor("memfd_create") { memfd_create("netwatch-validate", netwatch_memfd_cloexec) }
    }

    var descriptor: Int32 { file.number }

    /// The first bytes that were written.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: Self.length)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
