/// What has become of the path of a connection.
public struct ConnectionPath: Sendable, Hashable {
    /// Whether its source address is still this machine's.
    public var hasAddress: Bool
    /// Whether its packets still leave by the same interface, and that carries them.
    public var hasWay: Bool
    /// Whether its interface still meets the requirement of those who use it.
    public var isAllowed: Bool

    /// Sets each.
    public init(hasAddress: Bool, hasWay: Bool, isAllowed: Bool) {
        self.hasAddress = hasAddress
        self.hasWay = hasWay
        self.isAllowed = isAllowed
    }
}

/// Decides what becomes of connections when the network has changed.
///
/// TCP survives the loss of a carrier or a route, as long as the address stays: the other end need not notice. Without
/// its address nothing comes back; but a lease that is renewed takes the address away for a moment.
public enum RunningTable {
    /// How long an address must be gone before that counts.
    public static let damping = Duration.milliseconds(100)
    /// How long a connection without a way may be silent, for those who want to know soon.
    ///
    /// WiFi takes one to three seconds to come back from a short loss.
    public static let defaultGrace = Duration.seconds(5)

    /// A connection that no request uses.
    public static func verdict(onIdle path: ConnectionPath) -> IdleVerdict {
        path.isAllowed && path.hasAddress && path.hasWay ? .keep : .close
    }

    /// A connection that a request uses.
    public static func verdict(onRunning path: ConnectionPath, _ policy: PathLossPolicy) -> RunningVerdict {
        if !path.isAllowed { return .notAllowed }
        if !path.hasAddress { return .lostUnlessBack(within: max(damping, policy.grace ?? damping)) }
        return path.hasWay ? .keep : .lostIfSilent(for: policy.grace ?? defaultGrace)
    }

    /// What becomes of an idle connection.
    public enum IdleVerdict: Sendable, Hashable {
        /// Another request may use it.
        case keep
        /// The next request has a new one.
        case close
    }

    /// What becomes of a connection in use.
    public enum RunningVerdict: Sendable, Hashable {
        /// It goes on.
        case keep
        /// It is given up if the path is not as it was by then.
        case lostUnlessBack(within: Duration)
        /// It is given up if nothing comes for so long, and the path is not as it was by then.
        case lostIfSilent(for: Duration)
        /// It is given up at once: its packets leave where they may not.
        case notAllowed
    }
}

extension PathLossPolicy {
    /// How long a connection is kept; nil where the policy leaves that to the table.
    fileprivate var grace: Duration? {
        switch self {
        case .failFast: nil
        case .waitInFlight(let grace): max(grace, .zero)
        }
    }
}
