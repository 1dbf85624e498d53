import Glibc

/// A plain netlink socket, in the network namespace of the thread that made it.
final class RtnlSocket: Sendable {
    private let descriptor: OwnedDescriptor

    /// The timeout of a reply of the kernel, in seconds.
    private static let defaultTimeout = 60

    /// Opens a socket of `NETLINK_ROUTE` and joins groups (`RTNLGRP_*`).
    init(groups: [RtnlGroup] = []) throws(LabError) {
        descriptor = OwnedDescriptor(
            try systemCall("socket(AF_NETLINK)") {
                socket(AF_NETLINK, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), NETLINK.route)
            }
        )
        let number = descriptor.number
        try setOption(number, level: NETLINK.level, NETLINK.capAcknowledge, 1, "NETLINK_CAP_ACK")
        try setOption(number, level: NETLINK.level, NETLINK.extendedAcknowledge, 1, "NETLINK_EXT_ACK")
        try setOption(number, level: NETLINK.level, NETLINK.strictCheck, 1, "NETLINK_GET_STRICT_CHK")
        try setOption(number, level: SOL_SOCKET, SO_RCVBUF, 1 << 22, "SO_RCVBUF")
        // The kernel sends no notifications to sockets without a port.
        try Self.withKernelAddress { address, length throws(LabError) in
            try systemCall("bind a netlink socket") { bind(number, address, length) }
        }
        for group in groups {
            try setOption(number, level: NETLINK.level, NETLINK.addMembership, group.rawValue, "\(group)")
        }
    }

    /// Sends a datagram to the kernel.
    func send(_ bytes: [UInt8]) throws(LabError) {
        let count = try Self.withKernelAddress { address, length throws(LabError) in
            try systemCall("send \(bytes.count) bytes over netlink") {
                sendto(descriptor.number, bytes, bytes.count, 0, address, length)
            }
        }
        guard count == bytes.count else { throw LabError("send over netlink", errno: EMSGSIZE) }
    }

    /// Lays out `struct sockaddr_nl` with port 0, which is the kernel's, or asks for any; and without groups.
    @discardableResult
    private static func withKernelAddress<Value>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(LabError) -> Value
    ) throws(LabError) -> Value {
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_NETLINK)
        return try body(&address, 12)
    }

    /// Waits for a datagram and returns its messages.
    ///
    /// - Throws: `ETIMEDOUT` if there is none within the limit; `ENOBUFS` for an overrun.
    func receive(within limit: Duration = .seconds(RtnlSocket.defaultTimeout)) throws(LabError) -> [RtnlMessage] {
        guard try waitForInput(within: limit) else { throw LabError("receive over netlink", errno: ETIMEDOUT) }
        return try receiveNow()
    }

    /// Whether there is something to read, waiting for it up to a limit (poll(2)).
    func waitForInput(within limit: Duration) throws(LabError) -> Bool {
        var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
        return try systemCall("poll a netlink socket") { poll(&request, 1, limit.pollMilliseconds) } > 0
    }

    /// Reads one available datagram.
    func receiveNow() throws(LabError) -> [RtnlMessage] {
        let count = try systemCall("receive over netlink") {
            recv(descriptor.number, nil, 0, Int32(MSG_PEEK) | Int32(MSG_TRUNC))
        }
        var buffer = [UInt8](repeating: 0, count: count)
        let received = try systemCall("receive over netlink") { recv(descriptor.number, &buffer, buffer.count, 0) }
        return RtnlMessage.split(Array(buffer.prefix(received)))
    }
}
