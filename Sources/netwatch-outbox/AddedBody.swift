import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import Outbox

/// The value of `--data`: the source of a body.
enum AddedBody: Hashable {
    /// The argument itself, in UTF-8.
    case text(String)
    /// A file.
    case file(String)
    /// stdin.
    case standardInput

    /// Parses `TEXT|@FILE|-`.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        guard text != "-", text != "@-" else { return .standardInput }
        guard text.hasPrefix("@") else { return .text(text) }
        guard text != "@" else { throw .init("the file's name after '@' is missing; write @FILE, or - for stdin") }
        return .file(String(text.dropFirst()))
    }

    /// Returns the body, small ones in memory.
    ///
    /// - Throws: The error for the user if it can't be read.
    func body(_ contentType: String) throws(ToolError) -> OutboxBody {
        switch self {
        case .text(let text): return .text(text, contentType: contentType)
        case .file(let path):
            do throws(SystemError) {
                let file = try retryingOnInterrupt { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
                defer { close(file) }
                return try Self.body(of: file, at: path, contentType)
            } catch {
                throw .init("cannot read '\(path.escapedForTerminal)': \(error)", exit: .noInput)
            }
        case .standardInput:
            do throws(SystemError) { return try Self.body(of: STDIN_FILENO, at: "/proc/self/fd/0", contentType) } catch
            {
                throw .init("cannot read stdin: \(error)", exit: .noInput)
            }
        }
    }

    /// The size up to which a body is held in memory, and stored in the database.
    private static let largestInMemory = 64 << 10

    private static func body(
        of descriptor: Int32,
        at path: String,
        _ contentType: String
    ) throws(SystemError) -> OutboxBody {
        var status = stat()
        _ = try retryingOnInterrupt { fstat(descriptor, &status) }
        // What was read before, such as a URL, is not part of the body.
        let isFile = status.st_mode & S_IFMT == S_IFREG && lseek(descriptor, 0, SEEK_CUR) == 0
        if isFile, status.st_size > largestInMemory { return .file(path, .copy, contentType: contentType) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while bytes.count <= largestInMemory {
            let count = try retryingOnInterrupt { read(descriptor, &buffer, buffer.count) }
            if count == 0 { return .bytes(bytes, contentType: contentType) }
            bytes += buffer[..<count]
        }
        return .file(try spooled(bytes, descriptor), .copy, contentType: contentType)
    }

    /// Writes what a pipe supplies to a file without a name, which ends with this process.
    ///
    /// - Returns: The path by which it can be opened.
    private static func spooled(_ beginning: [UInt8], _ descriptor: Int32) throws(SystemError) -> String {
        let file = try namelessFile(in: getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp")
        var buffer = beginning
        while !buffer.isEmpty {
            do throws(OutputFailure) { try LineOutput(descriptor: file).write(buffer) } catch {
                throw error.systemError
            }
            buffer = .init(repeating: 0, count: 1 << 18)
            let count = try retryingOnInterrupt { read(descriptor, &buffer, buffer.count) }
            buffer.removeSubrange(count...)
        }
        return "/proc/self/fd/\(file)"
    }

    /// Opens a file without a name; on file systems that have none, such as the overlays of containers, its name is removed.
    private static func namelessFile(in folder: String) throws(SystemError) -> Int32 {
        do throws(SystemError) {
            // O_TMPFILE, whose value has no constant here.
            return try retryingOnInterrupt { open(folder, O_RDWR | O_CLOEXEC | 0o20_000_000 | O_DIRECTORY, 0o600) }
        } catch {
            guard error.code == EOPNOTSUPP else { throw error }
        }
        var name = Array("\(folder)/netwatch-XXXXXX".utf8CString)
        let file = try retryingOnInterrupt { mkstemp(&name) }
        unlink(name)
        return file
    }
}

extension OutputFailure {
    fileprivate var systemError: SystemError { if case .failed(let error) = self { error } else { .init(code: EPIPE) } }
}

/// The value of `--expires`.
enum LifetimeArgument: Hashable {
    case after(Duration)
    case never

    /// The lifetime; nil for none.
    var lifetime: Duration? { if case .after(let duration) = self { duration } else { nil } }

    /// Parses a duration, days, or `never`.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        if text == "never" { return .never }
        if text.last == "d", let days = Int64(text.dropLast()), (1...3_650).contains(days) {
            return .after(.seconds(days * 86_400))
        }
        do throws(ArgumentError) { return .after(try DurationArgument.parse(text)) } catch {
            throw .init("write a number and a unit, such as 30m, 12h or 7d, or never")
        }
    }
}

/// The value of `--not-before`.
struct NotBeforeArgument: Hashable {
    /// The moment in seconds since 1970.
    let seconds: Double

    /// Parses a moment (RFC 3339), or a duration from now.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        if let moment = Timestamp(rfc3339: text) {
            return .init(seconds: Double(moment.seconds) + Double(moment.nanoseconds) / 1e9)
        }
        guard let duration = try? DurationArgument.parse(text) else {
            throw .init("write a moment as 2026-11-24T06:00:00+01:00, or how long from now, such as 2h")
        }
        return .init(seconds: Double(time(nil)) + Double(duration.components.seconds))
    }
}
