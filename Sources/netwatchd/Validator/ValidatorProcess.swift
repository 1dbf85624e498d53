import Glibc
import LinuxSystem

/// A running `netwatch-validate`, which ends when this process does: the socket that is its stdin and stdout is closed then.
struct ValidatorProcess: ~Copyable {
    private let child: ChildProcess
    private let connection: Descriptor
    private var buffer: [UInt8] = []

    /// The longest line; a report has a few texts of limited length.
    private static let longestLine = 1 << 18

    private init(_ child: ChildProcess, _ connection: consuming Descriptor) {
        self.child = child
        self.connection = connection
    }

    /// Starts it.
    ///
    /// - Parameter words: Its path and arguments.
    /// - Returns: The running process.
    /// - Throws: The errno if it can't be started.
    static func start(_ words: [String]) throws(SystemError) -> Self {
        var ends: [Int32] = [-1, -1]
        // Closed on exec, so that no other child keeps it open.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        _ = try retryingOnInterrupt("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        let own = try Descriptor("socketpair") { ends[0] }
        let other = try Descriptor("socketpair") { ends[1] }
        return .init(try ChildProcess.start(words, input: other.number, output: other.number), own)
    }

    /// Reads the next line, without its end.
    ///
    /// - Parameter interruption: What ends the wait from another thread.
    /// - Returns: The line; nil at the end of its output, or after an interruption.
    /// - Throws: `EMSGSIZE` for a line that is too long, or the errno of poll(2) or read(2).
    mutating func line(_ interruption: Wakeup) throws(SystemError) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeFirst(end + 1) }
                return Array(buffer[..<end])
            }
            searched = buffer.count
            guard searched < Self.longestLine else { throw .init(code: EMSGSIZE) }
            guard try waitForOutput(interruption), try read() else { return nil }
        }
    }

    private func waitForOutput(_ interruption: Wakeup) throws(SystemError) -> Bool {
        var descriptors = [
            pollfd(fd: connection.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        _ = try retryingOnInterrupt("poll") { poll(&descriptors, 2, -1) }
        return descriptors[1].revents == 0
    }

    private mutating func read() throws(SystemError) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = try retryingOnInterrupt("read") { Glibc.read(connection.number, &bytes, bytes.count) }
        buffer += bytes.prefix(count)
        return count > 0
    }

    /// Ends it, unless it has ended, and waits for that.
    ///
    /// - Returns: Its exit status; 128 plus the number of the signal that ended it.
    consuming func end() -> Int32? {
        // It has nothing to save, and is not waited for.
        child.kill()
        return try? child.wait()
    }
}
