public import ReachabilityCore

/// The network namespace that a monitor watches, and how it evaluates its state.
public struct MonitorConfiguration: Sendable {
    /// The network namespace to watch.
    public var namespace: NetworkNamespace
    /// The user's own rules for kinds of interfaces; the first match wins, before everything that the kernel says.
    public var kindRules: [KindRule]
    /// Patterns of the names of interfaces whose use costs money, such as `enx*`; see ``NetworkPath/isExpensive``.
    public var expensiveInterfaces: [String]
    /// Patterns of the names of interfaces that are to be used sparingly; see ``NetworkPath/isConstrained``.
    public var constrainedInterfaces: [String]
    /// The time for which the path must stay the same before a change is published; none by default.
    ///
    /// A change is held back no longer than five times this. The first state is never held back.
    public var settle: Duration
    /// The same for changes from reachable to not reachable; nil for ``settle``.
    public var settleGoingDown: Duration?
    /// The user whose sockets are evaluated (`uidrange` rules); nil for the effective user of the process.
    public var user: UInt32?
    /// How many bytes of messages the kernel may queue for the monitor; capped by `net.core.rmem_max` without
    /// privilege.
    public var receiveBufferSize: Int
    /// Whether to report when a Wi-Fi interface of the path roams to another access point without a loss, as changes of
    /// the kind ``ReachabilityChange/Event/roam``.
    public var reportsRoams: Bool
    /// Called on the event thread with every datagram of the monitor; must not block.
    ///
    /// Requests for dumps, their replies and notifications are passed, and what sysfs says of devices as uevents, so
    /// that a recording which starts with the monitor stands alone. Lookups are not.
    package var tap: (@Sendable (CaptureEvent) -> Void)?
    /// Called on the event thread with each change, before the subscribers, and with its latency; must not block.
    ///
    /// The duration is the time since the event thread received the first of the messages that it evaluated together; nil
    /// for a change without a message, such as one that was held back.
    package var changeTap: (@Sendable (ReachabilityChange, Duration?) -> Void)?

    /// Creates a configuration; the defaults suit most programs.
    public init(
        namespace: NetworkNamespace = .current,
        kindRules: [KindRule] = [],
        expensiveInterfaces: [String] = [],
        constrainedInterfaces: [String] = [],
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil,
        user: UInt32? = nil,
        receiveBufferSize: Int = 8 << 20,
        reportsRoams: Bool = false
    ) {
        self.namespace = namespace
        self.kindRules = kindRules
        self.expensiveInterfaces = expensiveInterfaces
        self.constrainedInterfaces = constrainedInterfaces
        self.settle = settle
        self.settleGoingDown = settleGoingDown
        self.user = user
        self.receiveBufferSize = receiveBufferSize
        self.reportsRoams = reportsRoams
    }
}

extension MonitorConfiguration {
    /// The context of evaluations for a user's sockets.
    func context(user: UInt32) -> EvaluationContext {
        .init(user: user, kindRules: kindRules, expensive: expensiveInterfaces, constrained: constrainedInterfaces)
    }
}

/// One datagram between a monitor and the kernel, as a recording keeps it.
package struct CaptureEvent: Sendable, Hashable {
    /// When it was received or sent: nanoseconds since 1970 of `CLOCK_REALTIME` (clock_gettime(2)).
    package var time: UInt64
    /// Its direction.
    package var direction: Direction
    /// The netlink protocol: `NETLINK_ROUTE` (0) or `NETLINK_KOBJECT_UEVENT` (15).
    package var protocolNumber: UInt16
    /// The bytes of the datagram: one netlink message or several.
    package var bytes: [UInt8]

    /// The direction of a datagram.
    package enum Direction: Sendable, Hashable {
        /// A notification, or the reply to a dump.
        case fromKernel
        /// The request for a dump.
        case toKernel
    }
}
