import Glibc
package import ReachabilityCore

/// The result of connect(2) of a UDP socket; nothing is sent.
package enum ConnectOutcome: Sendable, Hashable {
    /// The kernel has a route, with this source address (getsockname(2)).
    case connected(source: IPAddress)
    /// The kernel refuses, with an errno.
    case refused(errno: Int32)
}

extension LabNamespace {
    /// Connects a UDP socket in this namespace, unbound unless a source is given, and returns the result.
    package func connectUDP(
        to destination: IPAddress,
        port: UInt16 = 443,
        from source: IPAddress? = nil,
        sourcePort: UInt16 = 0,
        mark: UInt32 = 0
    ) throws -> ConnectOutcome {
        try run {
            let family = destination.family == .ipv4 ? AF_INET : AF_INET6
            let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let descriptor = OwnedDescriptor(try systemCall("socket") { socket(family, type, 0) })
            if mark != 0 {
                try setOption(descriptor.number, level: SOL_SOCKET, SO_MARK, Int32(bitPattern: mark), "SO_MARK")
            }
            if source != nil || sourcePort != 0 {
                // A program that another thread starts holds the socket before this one until it is executed.
                try setOption(descriptor.number, level: SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR")
                let local = source ?? .init(family: destination.family, bits: 0)
                try withSocketAddress(local, sourcePort) { address, length throws(LabError) in
                    try systemCall("bind to \(local)") { bind(descriptor.number, address, length) }
                }
            }
            return try Self.connect(descriptor, to: destination, port)
        }
    }

    private static func connect(
        _ descriptor: OwnedDescriptor,
        to destination: IPAddress,
        _ port: UInt16
    ) throws(LabError) -> ConnectOutcome {
        do {
            try withSocketAddress(destination, port) { address, length throws(LabError) in
                try systemCall("connect") { Glibc.connect(descriptor.number, address, length) }
            }
        } catch {
            return .refused(errno: error.errno)
        }
        return .connected(source: try localAddress(of: descriptor, destination.family))
    }

    /// The corresponding C function is `getsockname`.
    private static func localAddress(
        of descriptor: OwnedDescriptor,
        _ family: AddressFamily
    ) throws(LabError) -> IPAddress {
        var storage = [UInt8](repeating: 0, count: 28)
        var length = socklen_t(storage.count)
        try systemCall("getsockname") {
            storage.withUnsafeMutableBytes { bytes in
                getsockname(descriptor.number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
            }
        }
        let octets = family == .ipv4 ? storage[4..<8] : storage[8..<24]
        let value = octets.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        return .init(family: family, bits: family == .ipv4 ? value << 96 : value)
    }
}

/// Lays out `struct sockaddr_in` or `sockaddr_in6` for a call.
func withSocketAddress(
    _ address: IPAddress,
    _ port: UInt16,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws(LabError) -> Void
) throws(LabError) {
    var bytes: [UInt8] = [address.family.rawValue, 0, UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
    if address.family == .ipv6 { bytes += [0, 0, 0, 0] }
    for position in 0..<address.family.bitWidth / 8 {
        bytes.append(UInt8(truncatingIfNeeded: address.bits >> (120 - 8 * UInt128(position))))
    }
    // The scope of an IPv6 address, or sin_zero.
    bytes += [UInt8](repeating: 0, count: address.family == .ipv4 ? 8 : 4)
    let result: Result<Void, LabError> = bytes.withUnsafeBytes { raw in
        guard let start = raw.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return .success(()) }
        do throws(LabError) { return .success(try body(start, socklen_t(raw.count))) } catch { return .failure(error) }
    }
    try result.get()
}
