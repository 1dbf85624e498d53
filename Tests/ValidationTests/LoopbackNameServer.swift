import Glibc
import HTTPLab
import NetworkLab

/// A name server on a free port of 127.0.0.1, which a test scripts.
final class LoopbackNameServer: Sendable {
    /// The port.
    let port: UInt16
    /// The number of queries so far.
    let queries = Observed(0)
    private let socket: OwnedDescriptor
    private let thread: LabThread

    /// Starts the server.
    ///
    /// - Parameter respond: Returns the datagrams to send for a query, whose number counts from 1.
    /// - Throws: The errno if it can't listen.
    init(_ respond: @escaping @Sendable (_ number: Int, _ query: [UInt8]) -> [[UInt8]]) throws {
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let socket = OwnedDescriptor(try systemCall("socket") { Glibc.socket(AF_INET, type, 0) })
        port = try Self.bind(socket.number)
        let queries = queries
        thread = try LabThread {
            while let (query, sender) = Self.receive(socket.number) {
                let number = queries.update { count in
                    count += 1
                    return count
                }
                for datagram in respond(number, query) { Self.send(datagram, to: sender, on: socket.number) }
            }
        }
        self.socket = socket
    }

    deinit {
        // An empty datagram ends the thread.
        Self.send([], to: Self.loopback(port), on: socket.number)
        thread.join()
    }

    /// Returns a reply with an address: a pointer to the name in the question, A, IN, 60 seconds (RFC 1035, 4.1).
    static func reply(to query: [UInt8], _ address: [UInt8]) -> [UInt8] {
        var reply = query
        (reply[2], reply[3], reply[7]) = (0x81, 0x80, 1)
        return reply + [0xC0, 0x0C, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// Binds to a free port, and returns it.
    private static func bind(_ socket: Int32) throws -> UInt16 {
        var address = loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            try systemCall("bind") { Glibc.bind(socket, pointer, size) }
            try systemCall("getsockname") { getsockname(socket, pointer, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Receives a datagram and its sender; nil for an empty one.
    private static func receive(_ socket: Int32) -> (bytes: [UInt8], sender: sockaddr_in)? {
        var buffer = [UInt8](repeating: 0, count: 1500)
        var sender = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutableBytes(of: &sender) { bytes in
            recvfrom(socket, &buffer, buffer.count, 0, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
        }
        return count > 0 ? (Array(buffer.prefix(count)), sender) : nil
    }

    private static func send(_ datagram: [UInt8], to place: sockaddr_in, on socket: Int32) {
        withUnsafeBytes(of: place) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            _ = sendto(socket, datagram, datagram.count, 0, pointer, socklen_t(bytes.count))
        }
    }
}
