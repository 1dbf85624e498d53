import NIOCore
import NetworkClientCore
import ReachabilityCore
import RequestGate

extension ConnectionHandler: PathFollowing {
    var pathLossPolicy: PathLossPolicy? { exchange?.handle.current.policy.pathLoss }

    func pathWasLost(_ loss: PathLoss) {
        guard let exchange, let reason = loss.reason(exchange.handle.current.copy) else { return close() }
        let processing: Processing = exchange.head == nil ? .maybeProcessed : .answered
        failExchange(.init(.pathLost, processing, reason))
    }

    /// Lets the path be followed from now on, in a session that judges paths.
    func followPath() {
        guard let keeper = host.core.followingKeeper, let channel = context?.channel,
            let local = channel.localAddress.flatMap({ IPAddress($0) }),
            let remote = channel.remoteAddress.flatMap({ IPAddress($0) })
        else { return }
        let endpoint = host.endpoint
        isFollowed = true
        keeper.follow(
            self,
            .init(
                local: local,
                remote: remote,
                isBound: endpoint.binding.isToInterface,
                requirement: endpoint.requirement
            )
        )
    }

    /// The connection is closed.
    func unfollowPath() {
        guard isFollowed else { return }
        isFollowed = false
        host.core.followingKeeper?.unfollow(self)
    }
}

extension LocalBinding {
    /// Whether packets leave through one interface and no other.
    fileprivate var isToInterface: Bool {
        switch self {
        case .interface, .interfaceIndex: true
        case .unbound, .address: false
        }
    }
}

extension PathLoss {
    /// What a request fails with; nil where there was none.
    fileprivate func reason(_ request: PreparedRequest) -> String? {
        let host = request.endpoint.way
        return switch self {
        case .idle: nil
        case .addressGone: "the address or the interface of the connection to \(host) is gone"
        case .silent(let time, let reasons):
            """
            the way to \(host) is gone, and nothing came for \(time)\
            \(reasons.isEmpty ? "" : " (\(reasons.map(\.rawValue).joined(separator: ", ")))")
            """
        case .notAllowed: "the way to \(host) is none any more that the request may take"
        }
    }
}
