import Synchronization

/// Why a connection's handshake was refused; set before the handshake fails.
///
/// For any thread.
final class TLSVerdict: Sendable {
    private let state = Mutex<HTTPError?>(nil)

    /// Why the server was refused, if it was.
    var refusal: HTTPError? { state.withLock { $0 } }

    /// Keeps why the server is refused.
    func refuse(_ error: HTTPError) { state.withLock { $0 = error } }

    /// The error to report for what the handshake failed with: the refusal, if there is one, or what was seen.
    func error(for cause: any Error, host: String) -> HTTPError {
        refusal ?? TLSFailure(host: host).error(for: cause)
    }
}
