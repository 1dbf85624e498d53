import Glibc
import Locking

/// A program that runs, with what it prints (posix_spawn(3)); it is in a process group of its own.
///
/// A program that is started within ``LabNamespace/run(_:)`` is in that namespace. One that is not ended by
/// ``finish(within:)`` is killed with its last owner, and its process group with it.
package final class LabProcess: Sendable {
    /// The result of a program.
    package struct Outcome: Sendable {
        /// Its exit code; 128 and the signal's number if a signal ended it.
        package var code: Int32
        /// Its standard output.
        package var output: String
        /// Its standard error.
        package var errors: String
    }

    /// The output that has been read so far.
    private struct State {
        var texts: [[UInt8]] = [[], []]
        var isOpen = [true, true]
        var code: Int32?
    }

    /// The process's number, which is also its group's.
    package let identifier: Int32
    private let path: String
    private let streams: [Stream]
    private let state = Lock(State())

    /// Starts a program with nothing on its standard input.
    ///
    /// - Parameters:
    ///   - path: The program's file; it is not searched for.
    ///   - arguments: The arguments, without the program's name.
    ///   - environment: The whole environment; nil for this process's own.
    ///   - directory: Where it runs; nil for this process's own directory.
    /// - Throws: The errno if it cannot be started.
    package init(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        directory: String? = nil
    ) throws(LabError) {
        self.path = path
        streams = [try Stream(), try Stream()]
        let launch = Launch(path: path, arguments: arguments, environment: environment, directory: directory)
        identifier = try launch.start(output: streams[0].end.number, errors: streams[1].end.number)
        // While this process held the writing ends too, the streams would never end.
        for stream in streams { stream.end.close() }
    }

    deinit {
        guard state.withLock({ $0.code }) == nil else { return }
        kill(-identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
    }

    /// Runs a program to its end; what the arguments are, the initializer says.
    ///
    /// - Throws: As the initializer and ``finish(within:)``.
    package static func run(
        _ path: String,
        _ arguments: [String] = [],
        environment: [String: String]? = nil,
        directory: String? = nil,
        within limit: Duration = .seconds(120)
    ) throws(LabError) -> Outcome {
        try LabProcess(path, arguments, environment: environment, directory: directory).finish(within: limit)
    }

    /// Whether it has not ended.
    package var isRunning: Bool {
        var info = siginfo_t()
        // It remains to be reaped.
        return waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
    }

    /// Sends a signal to the program, not to its children.
    package func send(_ signal: Int32) throws(LabError) {
        try systemCall("kill \(path)") { kill(identifier, signal) }
    }

    /// Waits until the program's output satisfies a condition, and returns it.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, `EPIPE` if it ends before, with what it had printed.
    @discardableResult
    package func waitForOutput(
        within limit: Duration = .seconds(120),
        until condition: (String) -> Bool
    ) throws(LabError) -> String {
        let deadline = ContinuousClock.now + limit
        while true {
            let (text, isOpen) = state.withLock { (Self.text($0.texts[0]), $0.isOpen[0]) }
            if condition(text) { return text }
            guard isOpen else { throw LabError("wait for output of \(path)", errno: EPIPE, detail: seen) }
            try read(until: deadline)
        }
    }

    /// Waits for the program's end, which is that of its streams: a child that holds them counts too.
    ///
    /// - Returns: Its exit code and its output.
    /// - Throws: `ETIMEDOUT` after the limit, with what it had printed; it is killed then.
    package func finish(within limit: Duration = .seconds(120)) throws(LabError) -> Outcome {
        let deadline = ContinuousClock.now + limit
        while state.withLock({ $0.isOpen.contains(true) }) { try read(until: deadline) }
        return try state.withLock { (state: inout State) throws(LabError) in
            let code: Int32
            if let known = state.code { code = known } else { code = try reap() }
            state.code = code
            return Outcome(code: code, output: Self.text(state.texts[0]), errors: Self.text(state.texts[1]))
        }
    }

    private var seen: String { "seen: \(state.withLock { $0.texts.map(Self.text) })" }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private func reap() throws(LabError) -> Int32 {
        var status: Int32 = 0
        try systemCall("waitpid") { waitpid(identifier, &status, 0) }
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Waits until a stream has more or ends, and reads it.
    private func read(until deadline: ContinuousClock.Instant) throws(LabError) {
        let isOpen = state.withLock { $0.isOpen }
        var requests = zip(streams, isOpen).map {
            pollfd(fd: $1 ? $0.start.number : -1, events: Int16(POLLIN), revents: 0)
        }
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard try systemCall("poll", { poll(&requests, 2, remaining.pollMilliseconds) }) > 0 else {
            kill(-identifier, SIGKILL)
            throw LabError("wait for \(path)", errno: ETIMEDOUT, detail: seen)
        }
        for position in 0..<2 where requests[position].revents != 0 {
            let bytes = try streams[position].read()
            state.withLock { state in
                state.texts[position] += bytes
                state.isOpen[position] = !bytes.isEmpty
            }
        }
    }
}
