import CommandLineSupport
import Glibc

/// The service manager that started the tool, as far as it wants to hear of it (sd_notify(3)).
///
/// Each message is one datagram to the socket that `NOTIFY_SOCKET` names.
final class ServiceManager: Sendable {
    /// How often it wants to hear that all is well; nil if it does not ask (sd_watchdog_enabled(3)).
    let watchdogInterval: Duration?
    private let address: SocketAddress
    private let descriptor: Int32

    /// Connects to the manager that an environment names.
    ///
    /// - Parameters:
    ///   - socket: The value of `NOTIFY_SOCKET`: a path, or `@` and an abstract name.
    ///   - watchdogInterval: How often the manager wants to hear of the tool.
    /// - Throws: `EAFNOSUPPORT` for another kind of socket, `ENAMETOOLONG`, or what the kernel says.
    init(socket: String, watchdogInterval: Duration? = nil) throws(SystemError) {
        address = try SocketAddress(socket)
        self.watchdogInterval = watchdogInterval
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = try retryingOnInterrupt { Glibc.socket(AF_UNIX, type, 0) }
        // A manager that reads nothing must not hold up the thread that listens to the kernel.
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Tells the manager something, such as `READY=1`; from any thread.
    func tell(_ assignments: [String]) throws(SystemError) {
        let message = Array(assignments.joined(separator: "\n").utf8)
        _ = try retryingOnInterrupt {
            address.withPointer { pointer, length in
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), pointer, length)
            }
        }
    }
}

extension ServiceManager {
    /// The address of a Unix socket as the manager writes it (unix(7)).
    struct SocketAddress {
        private let bytes: [UInt8]

        init(_ text: String) throws(SystemError) {
            guard text.hasPrefix("/") || text.hasPrefix("@"), text.utf8.count > 1 else {
                throw .init(code: EAFNOSUPPORT)
            }
            bytes = Array(text.utf8)
            guard bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
                throw .init(code: ENAMETOOLONG)
            }
        }

        /// The kernel's form; an abstract name begins with a zero, and no zero ends it.
        func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { path in
                path.copyBytes(from: bytes)
                if bytes.first == UInt8(ascii: "@") { path[0] = 0 }
            }
            let length = (MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 0) + bytes.count
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
            }
        }
    }
}
