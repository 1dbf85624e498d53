import Locking

/// Why a connection's handshake was refused; set before the handshake fails.
///
/// For any thread.
final class TLSVerdict: Sendable {
    private enum State {
        case pending
        case accepted
        case refused(HTTPError)
    }

    private let state = Lock(State.pending)

    /// Why the server was refused, if it was.
    var refusal: HTTPError? {
        guard case .refused(let error) = state.withLock({ $0 }) else { return nil }
        return error
    }

    /// Keeps the verdict: why the server is refused, or nil.
    func keep(_ refusal: HTTPError?) { state.withLock { $0 = refusal.map(State.refused) ?? .accepted } }

    /// The error to report for what the handshake failed with: the refusal, if there is one, or what was seen.
    ///
    /// With TLS 1.3 a server can refuse a client certificate, or the lack of one, only when the handshake has ended for
    /// the client: what the connection then fails with can be given here too.
    func error(for cause: any Error, host: String) -> HTTPError {
        switch state.withLock({ $0 }) {
        case .refused(let error): error
        case .accepted: TLSFailure(host: host, isServerAccepted: true).error(for: cause)
        case .pending: TLSFailure(host: host, isServerAccepted: false).error(for: cause)
        }
    }
}
