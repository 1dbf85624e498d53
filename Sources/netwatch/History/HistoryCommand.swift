import ArgumentParser
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import ReachabilityCore

/// `netwatch history`: reports availability from the output of `watch --json`.
struct HistoryCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Report availability from recorded changes.",
        discussion: .guide(
            [
                .init(
                    "Report what the service has written to the journal",
                    "journalctl -o cat -u netwatch | netwatch history -"
                ),
                .init(
                    "Report the last week of the event service",
                    "netwatch history --socket /run/netwatch/events.sock --since 7d"
                ),
                .init(
                    "Report the last week, and draw it",
                    "netwatch history log.jsonl --since 7d --until now --svg week.svg"
                ),
            ],
            """
            Reads the JSON Lines of 'netwatch watch --json', from a file, from the journal or from the event service \
            (--socket); other lines are skipped. Times are local. The last status counts up to the last line, or up to \
            --until (with --socket: up to now). The time between the end of one \
            monitor and the start of the next is unknown, unless it is at most --bridge. Exits with 65 if no line is a \
            record, and with 75 if the event service does not respond.
            """
        )
    )

    @Argument(help: .init("The file; '-' for stdin.", valueName: "file"), completion: .file())
    var file: String?

    @Option(
        parsing: .unconditional,
        help: .init("Read what the event service has stored, from this Unix socket.", valueName: "path"),
        completion: .file()
    )
    var socket: String?

    @Option(
        parsing: .unconditional,
        help: .init("Begin at a day, at a time, or this long ago.", valueName: "when"),
        transform: MomentArgument.parse
    )
    var since: MomentArgument?

    @Option(
        parsing: .unconditional,
        help: .init("End at the start of a day, at a time, this long ago, or now.", valueName: "when"),
        transform: MomentArgument.parse
    )
    var until: MomentArgument?

    @Option(
        parsing: .unconditional,
        help: .init("Count restarts up to this long as uninterrupted (default: 60s).", valueName: "duration"),
        transform: DurationArgument.parse
    )
    var bridge: Duration = .seconds(60)

    @Option(
        parsing: .unconditional,
        help: .init("Also draw an SVG picture; a regular file is replaced.", valueName: "file"),
        completion: .file(extensions: ["svg"])
    )
    var svg: String?

    func validate() throws {
        guard (file == nil) != (socket == nil) else {
            throw ValidationError("Give <file>, or the event service's socket with --socket")
        }
        if svg?.isEmpty == true { throw ValidationError("The name after --svg is empty; write one such as week.svg") }
        guard svg == "-" else { return }
        throw ValidationError("--svg needs a file, as stdout has the table; name one such as week.svg")
    }

    func execute() throws(ToolError) -> ExitStatus {
        let input = HistoryInput(try bytes(), bridge: bridge)
        for remark in input.remarks { StandardError.note(remark) }
        guard var history = input.history else {
            let what = "no record in \(name) (lines: \(input.lineCount)); give the output of 'netwatch watch --json'"
            throw .init(what, exit: .badData)
        }
        let days = LocalDays { SystemClock.utcOffset(at: $0) }
        let window = try window(of: &history, days)
        let clock: @Sendable (Timestamp) -> String = { time in
            var clock = TimestampText.local
            return clock.text(.init(seconds: time.seconds, nanoseconds: 0)).replacing(".000000", with: "")
        }
        if let svg { try draw(HistoryPicture(history, in: window, days: days, clock: clock), svg) }
        let lines = HistoryTable(history, in: window, days: days, clock: clock).lines
        return try StandardOutput.write(lines.map { $0 + "\n" }.joined())
    }

    /// The name of the input.
    private var name: String { file == "-" ? "stdin" : (file ?? socket ?? "").escapedForTerminal }

    private func bytes() throws(ToolError) -> [UInt8] {
        if let socket { return try ServiceHistory(socket: socket).lines(since: age) }
        guard let file else { return [] }
        do throws(SystemError) {
            return file == "-" ? try FileContents.readStandardInput() : try FileContents.read(file)
        } catch {
            let name = file == "-" ? name : "'\(name)'"
            throw .init("cannot read \(name): \(error); give the output of 'netwatch watch --json'", exit: .badData)
        }
    }

    /// The time since the beginning of the period; nil for everything.
    private var age: Duration? {
        let now = SystemClock.wall
        let start = since?.moment(now: now, days: LocalDays { SystemClock.utcOffset(at: $0) })
        let end = Instant(nanoseconds: now.nanosecondsSinceEpoch)
        // Limited to 292 years, which a year such as 1600 exceeds.
        return start.map { max(Instant(nanoseconds: $0.nanosecondsSinceEpoch).duration(to: end), .zero) }
    }

    /// The reported period.
    private func window(of history: inout History, _ days: LocalDays) throws(ToolError) -> Range<Instant> {
        let now = SystemClock.wall
        let end = until ?? (socket == nil ? nil : .now)
        let moments = (since?.moment(now: now, days: days), end?.moment(now: now, days: days))
        guard let window = history.window(since: moments.0, until: moments.1, now: now) else {
            throw .init("no record lies between --since and --until; give other moments", exit: .badData)
        }
        return window
    }

    private func draw(_ picture: HistoryPicture, _ path: String) throws(ToolError) {
        do throws(OutputFailure) {
            try AtomicFile.write(Array(picture.text.utf8), to: path)
        } catch {
            _ = try error.end(writing: path.escapedForTerminal)
        }
    }
}

/// A moment that a user names.
enum MomentArgument: Hashable {
    /// The present one.
    case now
    /// So long before that.
    case ago(Duration)
    /// The beginning of a day.
    case day(CivilDay)
    /// One that is written in full.
    case moment(Timestamp)

    /// Reads a moment.
    ///
    /// - Throws: ``ArgumentError`` that says how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        if text == "now" { return .now }
        if let day = CivilDay(text) { return .day(day) }
        if let time = Timestamp(rfc3339: text) { return .moment(time) }
        if text.last == "d", let days = Int64(text.dropLast()), (0...365).contains(days) {
            return .ago(.seconds(days * 86_400))
        }
        if text.first?.isASCIIDigit == true, !text.contains("-"), let duration = try? DurationArgument.parse(text) {
            return .ago(duration)
        }
        throw .init(
            "write a day as 2026-11-20, a moment as 2026-11-20T21:00:00+01:00, how long ago as 12h or 7d, or now"
        )
    }

    /// The moment.
    func moment(now: Timestamp, days: LocalDays) -> Timestamp {
        switch self {
        case .now: now
        case .moment(let time): time
        case .day(let day): days.midnight(of: day)
        case .ago(let duration): now.advanced(by: .zero - duration)
        }
    }
}

/// Writes files so that no reader ever sees a part of one.
enum AtomicFile {
    /// Writes or replaces a file (rename(2)).
    ///
    /// It is written next to its place first, so that an existing file is kept if that fails. The rights are those of any new
    /// file (umask(2)). A link stays one: what it leads to is replaced. What is no regular file, such as a device or a
    /// pipe, is written where it is.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return try replace(path, by: bytes) }
        guard status.st_mode & S_IFMT == S_IFREG else { return try write(bytes, into: path) }
        try replace(resolved(path), by: bytes)
    }

    /// realpath(3).
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func write(_ bytes: [UInt8], into path: String) throws(OutputFailure) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try retryingOnInterrupt { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) }
        } catch {
            throw .failed(error)
        }
        defer { close(descriptor) }
        try LineOutput(descriptor: descriptor).write(bytes)
    }

    private static func replace(_ path: String, by bytes: [UInt8]) throws(OutputFailure) {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .failed(.last) }
        do throws(OutputFailure) {
            defer { close(descriptor) }
            try LineOutput(descriptor: descriptor).write(bytes)
            try check(fchmod(descriptor, 0o666 & ~CreationMask.current))
            try check(fsync(descriptor))
            try check(rename(template, path))
        } catch {
            unlink(template)
            throw error
        }
    }

    private static func check(_ result: Int32) throws(OutputFailure) {
        if result != 0 { throw .failed(.last) }
    }
}
