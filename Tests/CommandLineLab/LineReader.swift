import Glibc
import NetworkLab

/// Reads lines from a descriptor, with a deadline.
///
/// Sendable because a test, to which it belongs, uses it from one thread at a time.
package final class LineReader: @unchecked Sendable {
    private var descriptor: Int32
    private var pending: [UInt8] = []

    package init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { end() }

    /// Closes the descriptor, so that the writer's next write fails.
    package func end() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// The next line without its end; nil at the end of the stream.
    ///
    /// A last line that is not ended is an error, because the tool writes whole lines.
    package func line(within limit: Duration = .seconds(120)) throws -> String? {
        let deadline = ContinuousClock.now + limit
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard try fill(until: deadline) else {
                guard pending.isEmpty else { throw LabError("a line ends without its end", errno: EPIPE) }
                return nil
            }
        }
    }

    /// The available bytes; nil at the end of the stream.
    package func bytes() throws -> [UInt8]? {
        guard try !pending.isEmpty || fill(until: ContinuousClock.now + .seconds(120)) else { return nil }
        defer { pending = [] }
        return pending
    }

    /// Everything up to the end of the stream.
    package func rest() throws -> String { String(decoding: try restBytes(), as: UTF8.self) }

    /// Everything up to the end of the stream, byte for byte.
    package func restBytes() throws -> [UInt8] {
        let deadline = ContinuousClock.now + .seconds(120)
        while try fill(until: deadline) {}
        defer { pending = [] }
        return pending
    }

    /// Reads more; false at the end of the stream.
    private func fill(until deadline: ContinuousClock.Instant) throws -> Bool {
        let left = max(.zero, deadline - .now)
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        guard poll(&wait, 1, Int32(milliseconds)) == 1 else {
            throw LabError("read a line", errno: ETIMEDOUT, detail: String(decoding: pending, as: UTF8.self))
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return false }
        pending += buffer[..<count]
        return true
    }
}
