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
