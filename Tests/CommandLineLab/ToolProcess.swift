import CLinux
import Glibc
import Locking
package import NetworkLab

/// A process of the built tool, run as by a user, in a network namespace.
///
/// Sendable: its mutable state is under a lock, or is used only by the test that owns the process.
package final class ToolProcess: Sendable {
    /// Its process id.
    package let id: Int32
    /// Its stdout.
    package let output: LineReader
    /// Its stderr.
    package let errors: LineReader
    private let input: Lock<Int32?>
    private let ended = LabInbox<Int32>()

    /// The destination of its stdout.
    package enum Destination {
        case pipe
        case file(String)
        case descriptor(Int32)
    }

    /// The terminal that controls it.
    package enum Session {
        /// The test's own, if there is one.
        case inherited
        /// This one, or none; with one, that is its stdin too.
        case own(terminal: String?)
    }

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - lab: The namespace that it inherits from the thread that starts it.
    ///   - destination: The destination of its stdout.
    ///   - terminal: The destination of its stderr; nil for a pipe.
    ///   - environment: Environment variables in addition to the test's.
    ///   - session: The terminal that controls it.
    ///   - wrapper: A program with arguments that executes the tool, whose path and arguments follow.
    /// - Throws: An error if it cannot be started.
    package init(
        _ arguments: [String],
        in lab: LabNamespace,
        stdout destination: Destination = .pipe,
        stderr terminal: Int32? = nil,
        environment: [String: String] = [:],
        session: Session = .inherited,
        through wrapper: [String] = []
    ) throws {
        let input = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        defer { for end in [input.reader, output.writer, errors.writer] { close(end) } }
        let files = try FileActions()
        var leadsSession = false
        if case .own = session { leadsSession = true }
        if case .own(let terminal?) = session {
            try files.open(terminal: terminal, as: STDIN_FILENO)
        } else {
            try files.duplicate(input.reader, to: STDIN_FILENO)
        }
        switch destination {
        case .pipe: try files.duplicate(output.writer, to: STDOUT_FILENO)
        case .descriptor(let descriptor): try files.duplicate(descriptor, to: STDOUT_FILENO)
        case .file(let path): try files.open(path, as: STDOUT_FILENO)
        }
        try files.duplicate(terminal ?? errors.writer, to: STDERR_FILENO)
        let words = wrapper + [ToolBinary.path] + arguments
        id = try lab.run {
            try files.spawn(words[0], Array(words[1...]), environment: environment, leadsSession: leadsSession)
        }
        self.input = .init(input.writer)
        self.output = LineReader(output.reader)
        self.errors = LineReader(errors.reader)
        let id = self.id
        let ended = self.ended
        _ = try LabThread {
            var status: Int32 = 0
            while waitpid(id, &status, 0) == -1, errno == EINTR {}
            ended.put(status)
        }
    }

    deinit {
        closeInput()
        if isRunning { kill(id, SIGKILL) }
    }

    /// Whether it has not ended.
    package var isRunning: Bool { ended.all.isEmpty }

    /// Sends it a signal, if it still runs.
    package func send(_ signal: Int32) {
        if isRunning { kill(id, signal) }
    }

    /// Waits until it has blocked a signal, and is therefore ready to receive it.
    ///
    /// Nothing announces that.
    package func waitUntilBlocks(_ signal: Int32) throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let status = String(decoding: try Repository.bytes(of: "/proc/\(id)/status"), as: UTF8.self)
            let mask = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }?.split(separator: "\t").last
            if let mask, let bits = UInt64(mask, radix: 16), bits >> UInt64(signal - 1) & 1 == 1 { return }
            Polling.pause()
        }
        throw LabError("block signal \(signal)", errno: ETIMEDOUT)
    }

    /// Writes to its stdin.
    package func type(_ text: String) {
        input.withLock { descriptor in
            guard let descriptor else { return }
            _ = text.withCString { write(descriptor, $0, strlen($0)) }
        }
    }

    /// Closes its stdin.
    package func closeInput() {
        input.withLock { descriptor in
            if let open = descriptor { close(open) }
            descriptor = nil
        }
    }

    /// Waits for its end: the code of exit(3), or 1000 and the number of the signal that ended it.
    package func exitCode() throws -> Int32 {
        let status = try ended.wait(for: "the tool's end") { !$0.isEmpty }[0]
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 1000 + status & 0x7F
    }
}

/// The path of the built tool.
package enum ToolBinary {
    /// Next to the running test bundle.
    package static let path: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let runner = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "/" + runner.split(separator: "/").dropLast().joined(separator: "/") + "/netwatch"
    }()
}

/// Both ends of a pipe that other processes do not inherit (pipe2(2)).
package struct Pipe {
    package let reader: Int32
    package let writer: Int32

    package init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw LabError("pipe2", errno: errno) }
        reader = ends[0]
        writer = ends[1]
    }
}
