import Glibc
import NetworkLab

/// The address on which a server listens.
package enum ServerAddress: Sendable, Hashable {
    /// 127.0.0.1, or another address given by its four octets.
    case ipv4(UInt8, UInt8, UInt8, UInt8)
    /// ::1.
    case ipv6
    /// A Unix socket at this path.
    case unix(String)

    /// 127.0.0.1.
    package static let loopback = ServerAddress.ipv4(127, 0, 0, 1)

    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// The address as an argument of bind(2).
    func bytes(port: UInt16) -> [UInt8] {
        let ports = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
        let head = withUnsafeBytes(of: UInt16(family)) { Array($0) }
        switch self {
        case .ipv4(let first, let second, let third, let fourth):
            return head + ports + [first, second, third, fourth] + [UInt8](repeating: 0, count: 8)
        case .ipv6:
            return head + ports + [UInt8](repeating: 0, count: 19) + [1, 0, 0, 0, 0]
        case .unix(let path):
            return head + Array(path.utf8) + [0]
        }
    }
}

/// Passes a socket address to a system call.
func withSocketAddress<Result>(
    _ bytes: [UInt8],
    _ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result
) -> Result {
    bytes.withUnsafeBytes { body($0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) }
}

/// Returns the port to which a socket is bound; 0 for a Unix socket.
///
/// The corresponding C function is `getsockname`.
func localPort(of descriptor: OwnedDescriptor) throws(LabError) -> UInt16 {
    var storage = [UInt8](repeating: 0, count: 128)
    var length = socklen_t(storage.count)
    try systemCall("getsockname") {
        storage.withUnsafeMutableBytes { bytes in
            getsockname(descriptor.number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
    }
    let family = UInt16(storage[0]) | UInt16(storage[1]) << 8
    return Int32(family) == AF_UNIX ? 0 : UInt16(storage[2]) << 8 | UInt16(storage[3])
}
