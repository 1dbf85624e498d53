import Glibc
package import LinuxSystem
package import ReachabilityCore

/// A loopback address and port to listen on.
package struct LoopbackAddress: Hashable, Sendable {
    /// 127.0.0.1 or ::1.
    package let address: IPAddress
    /// The port.
    package let port: UInt16

    /// Reads `127.0.0.1:8787` or `[::1]:8787`.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> Self {
        guard let colon = text.lastIndex(of: ":") else { throw .init("the port is missing; \(howTo)") }
        let host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let port = UInt16(digits), port > 0 else {
            throw .init("the port is no number from 1 to 65535; \(howTo)")
        }
        guard let address = ["127.0.0.1": "127.0.0.1", "[::1]": "::1"][host].flatMap({ IPAddress($0) }) else {
            throw .init("only 127.0.0.1 and [::1] are listened on; for other machines, put a proxy before the socket")
        }
        return .init(address: address, port: port)
    }

    private static let howTo = "write 127.0.0.1:8787"

    /// Opens a socket that accepts connections.
    ///
    /// - Parameter backlog: The number of connections that wait to be accepted.
    /// - Returns: The descriptor, which the caller closes.
    /// - Throws: The errno of socket(2), bind(2) or listen(2).
    package func listeningSocket(backlog: Int32 = 128) throws(SystemError) -> Int32 {
        let family = address.family == .ipv4 ? AF_INET : AF_INET6
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try retryingOnInterrupt { socket(family, type, 0) }
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        do throws(SystemError) {
            _ = try retryingOnInterrupt { bind(descriptor) }
            _ = try retryingOnInterrupt { Glibc.listen(descriptor, backlog) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Returns the error for the user if the socket can't be opened.
    ///
    /// - Parameters:
    ///   - error: The errno.
    ///   - advice: What to do where binding is not permitted at all.
    /// - Returns: The error.
    package func failure(_ error: SystemError, unlessPermitted advice: String) -> ToolError {
        let fix =
            switch error.code {
            case EACCES: "choose a port from 1024 on"
            case EPERM: advice
            default: "choose another port with --listen"
            }
        let status: ExitStatus = [EACCES, EPERM].contains(error.code) ? .notPermitted : .systemFailure
        return .init("cannot listen on port \(port): \(error); \(fix)", exit: status)
    }

    private func bind(_ descriptor: Int32) -> Int32 {
        if address.family == .ipv4 {
            var socket = sockaddr_in()
            socket.sin_family = sa_family_t(AF_INET)
            socket.sin_port = port.bigEndian
            socket.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withGenericAddress(&socket) { Glibc.bind(descriptor, $0, $1) }
        }
        var socket = sockaddr_in6()
        socket.sin6_family = sa_family_t(AF_INET6)
        socket.sin6_port = port.bigEndian
        withUnsafeMutableBytes(of: &socket.sin6_addr) { $0[15] = 1 }
        return withGenericAddress(&socket) { Glibc.bind(descriptor, $0, $1) }
    }
}

/// Calls a closure with an address in the form that system calls take.
private func withGenericAddress<Address>(
    _ address: inout Address,
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) -> Int32 {
    withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
    }
}
