import Glibc
package import LinuxSystem
import ReachabilityCore

/// A connection to the event service over which one request is sent.
///
/// Reading blocks until there are bytes, the deadline passes, or another thread interrupts it.
package struct EventSocket: ~Copyable {
    /// The time without progress after which a service counts as one that does not respond.
    ///
    /// The service itself may wait 10 s for the lock of its journal.
    package static let timeout = Duration.seconds(30)

    private let descriptor: Descriptor
    private var buffer: [UInt8] = []

    /// Connects to a service.
    ///
    /// - Throws: The errno of connect(2): `ENOENT` or `ECONNREFUSED` if no service runs, `EAGAIN` if it accepts no connection
    ///   for the ``timeout``.
    package init(path: String) throws(SystemError) { descriptor = try Self.connected(to: path) }

    private static func connected(to path: String) throws(SystemError) -> Descriptor {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .init(code: ENAMETOOLONG) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try Descriptor("socket") { socket(AF_UNIX, type, 0) }
        let (number, size) = (descriptor.number, socklen_t(MemoryLayout<sockaddr_un>.size))
        var limit = timeval(tv_sec: Int(Self.timeout.components.seconds), tv_usec: 0)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        _ = try retryingOnInterrupt("connect") {
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, size) }
            }
        }
        return descriptor
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - target: The path and the query.
    ///   - fields: The fields of its head.
    /// - Throws: The errno of send(2).
    package func send(_ target: String, _ fields: [String]) throws(SystemError) {
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + fields
        var rest = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)[...]
        while !rest.isEmpty {
            let count = try retryingOnInterrupt("send") {
                rest.withUnsafeBytes { Glibc.send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Reads the head of the response.
    ///
    /// - Parameters:
    ///   - interruption: What ends the wait from another thread.
    ///   - timeout: The maximum time for each part; nil for no limit.
    /// - Returns: The status code; nil if the service closed the connection.
    /// - Throws: As ``line(_:_:)``, or `EPROTO` if it is no response of HTTP.
    package mutating func status(
        _ interruption: Wakeup? = nil,
        within timeout: Duration? = nil
    ) throws(SystemError) -> Int? {
        guard let first = try line(timeout, interruption) else { return nil }
        let words = String(decoding: first, as: UTF8.self).split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            throw .init(code: EPROTO)
        }
        while let line = try line(timeout, interruption), !line.isEmpty {}
        return status
    }

    /// Reads a line, without its end.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - interruption: What ends the wait from another thread.
    /// - Returns: The line; nil at the end of the stream.
    /// - Throws: `ETIMEDOUT` at the deadline, `ECANCELED` after an interruption, `EMSGSIZE` for a line over 1 MiB, or the
    ///   errno of recv(2).
    package mutating func line(_ deadline: Duration?, _ interruption: Wakeup?) throws(SystemError) -> [UInt8]? {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                var line = Array(buffer[..<end])
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                buffer.removeFirst(end + 1)
                return line
            }
            searched = buffer.count
            guard searched < Self.longestLine else { throw .init(code: EMSGSIZE) }
            guard try receive(deadline, interruption) else { return nil }
        }
    }

    /// Reads everything up to the end of the stream.
    ///
    /// - Parameter timeout: The maximum time for each part; nil for no limit.
    /// - Returns: The bytes.
    /// - Throws: `ETIMEDOUT` after that time, or the errno of recv(2).
    package mutating func rest(within timeout: Duration? = nil) throws(SystemError) -> [UInt8] {
        while try receive(timeout, nil) {}
        defer { buffer = [] }
        return buffer
    }

    private static let longestLine = 1 << 20

    private mutating func receive(_ deadline: Duration?, _ interruption: Wakeup?) throws(SystemError) -> Bool {
        try wait(deadline, interruption)
        let count = try withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) {
            (bytes) throws(SystemError) -> Int in
            let count = try retryingOnInterrupt("recv") { recv(descriptor.number, bytes.baseAddress, bytes.count, 0) }
            buffer += bytes.prefix(Int(count))
            return Int(count)
        }
        return count > 0
    }

    private func wait(_ deadline: Duration?, _ interruption: Wakeup?) throws(SystemError) {
        let milliseconds = deadline.map { Int32(clamping: $0.components.seconds * 1000) } ?? -1
        var descriptors = [pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)]
        if let interruption {
            descriptors.append(.init(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0))
        }
        let count = try retryingOnInterrupt("poll") { poll(&descriptors, nfds_t(descriptors.count), milliseconds) }
        guard count > 0 else { throw .init(code: ETIMEDOUT) }
        if descriptors.count > 1, descriptors[1].revents != 0 { throw .init(code: ECANCELED) }
    }
}
