/// One datagram that went between a monitor and the kernel, as a recording keeps it.
public struct CaptureEvent: Sendable, Hashable {
    /// When it was seen: nanoseconds since 1970 of `CLOCK_REALTIME` (clock_gettime(2)).
    public var time: UInt64
    /// The way it went.
    public var direction: Direction
    /// The netlink protocol: `NETLINK_ROUTE` (0) or `NETLINK_KOBJECT_UEVENT` (15).
    public var protocolNumber: UInt16
    /// The bytes of the datagram: one netlink message or several.
    public var bytes: [UInt8]

    /// Makes a record of a datagram.
    public init(time: UInt64, direction: Direction, protocolNumber: UInt16, bytes: [UInt8]) {
        self.time = time
        self.direction = direction
        self.protocolNumber = protocolNumber
        self.bytes = bytes
    }

    /// The two ways a datagram can go.
    public enum Direction: Sendable, Hashable {
        /// A notification, or the answer to a dump.
        case fromKernel
        /// The request for a dump.
        case toKernel
    }
}
