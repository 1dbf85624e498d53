import NIOCore
import ReachabilityCore
import RequestGate

/// The gate of a session: decides whether a request may be sent, by the network path to its destination.
///
/// Confined to the session's event loop.
final class SessionGate {
    private unowned let core: SessionCore
    private let resolver: NameResolver
    private var existingKeeper: GateKeeper?

    init(_ core: SessionCore, _ resolver: NameResolver) {
        self.core = core
        self.resolver = resolver
    }

    /// The gate keeper, created for the first request that needs it: one may have a gate although its session has none.
    var keeper: GateKeeper {
        if let existingKeeper { return existingKeeper }
        let keeper = GateKeeper(
            connectivity: core.connectivity,
            validation: core.configuration.validation,
            resolver: resolver,
            loop: core.loop,
            onChange: { [weak self] key, verdict in self?.core.dispatcher.gateChanged(key, verdict) }
        )
        existingKeeper = keeper
        return keeper
    }

    /// The gate keeper, which follows the paths of connections; nil in a session without a gate.
    var followingKeeper: GateKeeper? {
        let isNeeded = core.configuration.gate.waits || core.configuration.requirement != .any
        return isNeeded ? keeper : existingKeeper
    }

    /// Returns whether a request may be sent now, and on which interface; or for what it waits.
    func verdict(for handle: RequestHandle) -> GateKeeper.Verdict {
        guard handle.current.policy.isGated else { return .open(binding: .unbound, addresses: nil) }
        return keeper.verdict(for: GateKey(handle.current))
    }

    /// Returns whether it is known that there is no path for a request with a gate.
    func hasNoPath(_ handle: RequestHandle) -> Bool {
        guard let wait = verdict(for: handle).wait else { return false }
        return !wait.isUndecided
    }

    /// Returns the error of a request for which there is no path.
    func noPathError(for handle: RequestHandle, after waited: Duration) -> HTTPError {
        let wait = keeper.verdict(for: GateKey(handle.current)).wait?.description ?? "a response from the server"
        let waits = handle.current.policy.gate.waits
        let destination = handle.current.endpoint.way
        let reason =
            waits
            ? "no path to \(destination) within \(waited.rounded): it waited for \(wait)"
            : "no path to \(destination) that the request may use: it needs \(wait)"
        return .init(waits ? .connectivityTimedOut : .pathNotAllowed, processing: .neverSent, reason: reason)
    }

    /// Stops watching the network at the end of the session.
    func shutDown() { existingKeeper?.shutDown() }
}

extension Duration {
    /// The duration for messages: in tenths of a second, or in milliseconds below 0.1 s.
    fileprivate var rounded: Duration {
        let milliseconds = clampedNanoseconds / 1_000_000
        return .milliseconds(milliseconds < 100 ? milliseconds : milliseconds / 100 * 100)
    }
}

extension PathLoss {
    /// The reason of the request's error; nil if the connection carried no request.
    func reason(at endpoint: Endpoint) -> String? {
        let host = endpoint.way
        return switch self {
        case .idle: nil
        case .addressGone: "the address or the interface of the connection to \(host) is gone"
        case .silent(let time, let reasons):
            """
            the path to \(host) is lost, and nothing was received for \(time)\
            \(reasons.isEmpty ? "" : " (\(reasons.map(\.rawValue).joined(separator: ", ")))")
            """
        case .notAllowed: "the path to \(host) no longer meets the requirement of the request"
        }
    }
}
