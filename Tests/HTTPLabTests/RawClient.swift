import Glibc
import NetworkLab

/// A client of the server's tests: a blocking socket, and nothing more.
final class RawClient {
    let descriptor: Int32

    /// Connects to 127.0.0.1 or another IPv4 address, to ::1, or to a Unix socket.
    init(port: UInt16, family: Int32 = AF_INET, octets: [UInt8] = [127, 0, 0, 1], path: String = "") throws {
        descriptor = try systemCall("socket") { socket(family, Int32(SOCK_STREAM.rawValue), 0) }
        // A test that hangs tells nothing; one that reads too little fails.
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = withUnsafeBytes(of: UInt16(family)) { Array($0) }
        let ports = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        switch family {
        case AF_INET: address += ports + octets + [UInt8](repeating: 0, count: 8)
        case AF_INET6: address += ports + [UInt8](repeating: 0, count: 19) + [1, 0, 0, 0, 0]
        default: address += Array(path.utf8) + [0]
        }
        let length = socklen_t(address.count)
        let code = address.withUnsafeBytes { bytes in
            connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        if code != 0 { throw LabError("connect", errno: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        try systemCall("send") { Glibc.send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Reads once; an empty text at the end.
    func read(_ count: Int = 65_536) throws -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        let count = try systemCall("recv") { recv(descriptor, &buffer, buffer.count, 0) }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Reads until the server closes.
    func readToEnd() throws -> String {
        var text = ""
        while case let more = try read(), !more.isEmpty { text += more }
        return text
    }

    /// Reads until so much has come.
    func read(until end: String) throws -> String {
        var text = ""
        while !text.hasSuffix(end) {
            let more = try read()
            if more.isEmpty { throw LabError("read until \(end)", errno: EPIPE, detail: text) }
            text += more
        }
        return text
    }
}
