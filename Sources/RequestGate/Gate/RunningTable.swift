/// The state of the path of an open connection.
package struct ConnectionPath: Sendable, Hashable {
    /// Whether the connection's source address is still assigned to this machine.
    package var hasAddress: Bool
    /// Whether the connection still has a route through the same interface, and that interface is up.
    package var hasRoute: Bool
    /// Whether the interface still meets the requirement of the requests that use the connection.
    package var isAllowed: Bool

    /// Creates a state.
    package init(hasAddress: Bool, hasRoute: Bool, isAllowed: Bool) {
        self.hasAddress = hasAddress
        self.hasRoute = hasRoute
        self.isAllowed = isAllowed
    }
}

/// Decides how open connections are handled after a change of the network.
///
/// A TCP connection survives the loss of the carrier or of the route as long as its source address remains; the peer
/// may not even detect it. Without that address, no packet from the peer arrives; but renewing a DHCP lease can remove
/// the address for a moment.
package enum RunningTable {
    /// The time for which an address must be missing before it counts as lost.
    package static let addressLossDelay = Duration.milliseconds(100)
    /// The time for which a connection without a route may be silent under ``PathLossPolicy/failFast``.
    ///
    /// Wi-Fi takes one to three seconds to recover from a short loss of signal.
    package static let defaultGrace = Duration.seconds(5)

    /// Returns the decision for a connection that no request uses.
    package static func verdict(onIdle path: ConnectionPath) -> IdleVerdict {
        path.isAllowed && path.hasAddress && path.hasRoute ? .keep : .close
    }

    /// Returns the decision for a connection that a request uses.
    package static func verdict(onRunning path: ConnectionPath, _ policy: PathLossPolicy) -> RunningVerdict {
        if !path.isAllowed { return .notAllowed }
        if !path.hasAddress {
            return .closeUnlessRestored(within: max(addressLossDelay, policy.grace ?? addressLossDelay))
        }
        return path.hasRoute ? .keep : .closeIfSilent(for: policy.grace ?? defaultGrace)
    }

    /// The decision for an idle connection.
    package enum IdleVerdict: Sendable, Hashable {
        /// Another request may use the connection.
        case keep
        /// The connection is closed, and the next request opens a new one.
        case close
    }

    /// The decision for a connection in use.
    package enum RunningVerdict: Sendable, Hashable {
        /// The connection is kept.
        case keep
        /// The connection is closed unless the path is restored within the duration.
        case closeUnlessRestored(within: Duration)
        /// The connection is closed if it receives nothing for the duration and the path is not restored by then.
        case closeIfSilent(for: Duration)
        /// The connection is closed immediately: its packets leave through a forbidden interface.
        case notAllowed
    }
}

extension PathLossPolicy {
    /// The time for which a connection is kept; nil if the policy leaves it to the table.
    fileprivate var grace: Duration? {
        switch self {
        case .failFast: nil
        case .waitInFlight(let grace): max(grace, .zero)
        }
    }
}
