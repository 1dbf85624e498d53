import Glibc

/// Runs a program to its end and keeps what it prints (posix_spawn(3)).
///
/// A program that is started within ``LabNamespace/run(_:)`` is in that namespace.
public enum LabProcess {
    /// What came of a program.
    public struct Outcome: Sendable {
        /// Its exit code; 128 and the signal's number if a signal ended it.
        public var code: Int32
        /// What it printed.
        public var output: String
        /// What it said on stderr.
        public var errors: String
    }

    /// Runs a program with nothing on its standard input.
    ///
    /// - Parameters:
    ///   - path: The program's file; it is not searched for.
    ///   - arguments: What follows the program's name.
    ///   - environment: The whole environment; nil for this process's own.
    ///   - limit: How long it may take. Then its process group is killed.
    /// - Returns: Its code and what it printed.
    /// - Throws: `ETIMEDOUT` after the limit, with what it had printed; the errno if it can't be started.
    public static func run(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        within limit: Duration = .seconds(60)
    ) throws(LabError) -> Outcome {
        let output = try Stream()
        let errors = try Stream()
        let process = try spawn(path, arguments, environment, output.end.number, errors.end.number)
        // While this process held the writing ends too, the streams would never end.
        output.end.close()
        errors.end.close()
        return try collect(path, process, [output, errors], limit)
    }

    /// Reads both streams to their ends, and then the process's code.
    private static func collect(
        _ path: String,
        _ process: pid_t,
        _ streams: [Stream],
        _ limit: Duration
    ) throws(LabError) -> Outcome {
        let deadline = ContinuousClock.now + limit
        var texts: [[UInt8]] = [[], []]
        var isOpen = [true, true]
        while isOpen.contains(true) {
            var requests = zip(streams, isOpen).map {
                pollfd(fd: $1 ? $0.start.number : -1, events: Int16(POLLIN), revents: 0)
            }
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard try systemCall("poll", { poll(&requests, 2, remaining.pollMilliseconds) }) > 0 else {
                kill(-process, SIGKILL)
                _ = try wait(process)
                throw LabError("wait for \(path)", errno: ETIMEDOUT, detail: "seen: \(texts.map(text))")
            }
            for position in 0..<2 where requests[position].revents != 0 {
                isOpen[position] = try read(streams[position], into: &texts[position])
            }
        }
        return .init(code: try wait(process), output: text(texts[0]), errors: text(texts[1]))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Whether there is more to come.
    private static func read(_ stream: Stream, into bytes: inout [UInt8]) throws(LabError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = try systemCall("read") { Glibc.read(stream.start.number, &buffer, buffer.count) }
        bytes += buffer.prefix(count)
        return count > 0
    }

    private static func wait(_ process: pid_t) throws(LabError) -> Int32 {
        var status: Int32 = 0
        try systemCall("waitpid") { waitpid(process, &status, 0) }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Starts the program in a process group of its own.
    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String: String]?,
        _ output: Int32,
        _ errors: Int32
    ) throws(LabError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals are as a shell would have them, whatever this process ignores or blocks.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        let inherited = environment == nil
        var variables = (environment ?? [:]).map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var process = pid_t()
        let code = variables.withUnsafeMutableBufferPointer { own in
            posix_spawn(&process, path, &actions, &attributes, &words, inherited ? environ : own.baseAddress)
        }
        guard code == 0 else { throw LabError("start \(path)", errno: code) }
        return process
    }
}

/// Two ends of a stream that no other program inherits; a pipe could not be made so in one step.
private struct Stream {
    /// Where this process reads.
    let start: OwnedDescriptor
    /// Where the program writes.
    let end: OwnedDescriptor

    init() throws(LabError) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        start = OwnedDescriptor(ends[0])
        end = OwnedDescriptor(ends[1])
    }
}
