public import ReachabilityCore

/// How a monitor watches, and what it makes of what it sees.
public struct MonitorConfiguration: Sendable {
    /// The network namespace to watch.
    public var namespace: NetworkNamespace = .current
    /// The user's own rules for kinds of interfaces, first match wins, before everything that the kernel says.
    public var kindRules: [KindRule] = []
    /// Patterns of the names of interfaces whose use costs money, such as `enx*`; ``NetworkPath/isExpensive`` tells.
    public var expensiveInterfaces: [String] = []
    /// Patterns of the names of interfaces that are to be used sparingly; ``NetworkPath/isConstrained`` tells.
    public var constrainedInterfaces: [String] = []
    /// How long the path must stay the same before a change is published; none by default.
    ///
    /// A change is held back no longer than five times this. The first state is never held back.
    public var settle: Duration = .zero
    /// The same for changes from reachable to not reachable; nil takes ``settle``.
    public var settleGoingDown: Duration?
    /// The user whose sockets are judged (`uidrange` rules); nil takes the effective user of the process.
    public var user: UInt32?
    /// How much the kernel may queue for the monitor, in bytes; capped by `net.core.rmem_max` without privilege.
    public var receiveBufferSize = 8 << 20
    /// Whether notices tell, with ``ReachabilityCore/StateChange/Event/roam``, of WiFi interfaces of the path that go over to
    /// another access point without a loss.
    public var reportsRoams = false
    /// Called on the event thread with every datagram of the monitor; must not block.
    ///
    /// Requests for dumps, their answers and notifications are handed over, and what sysfs says of devices as uevents,
    /// so that a recording which starts with the monitor stands alone. Look-ups are not.
    public var tap: (@Sendable (CaptureEvent) -> Void)?

    /// Makes the configuration that most programs want.
    public init() {}
}

extension MonitorConfiguration {
    /// What evaluations for a user's sockets are given.
    func context(user: UInt32) -> EvaluationContext {
        .init(
            user: user,
            kindRules: kindRules,
            expensive: expensiveInterfaces,
            constrained: constrainedInterfaces
        )
    }
}

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
