import NIOCore
import NetworkClientCore
import ReachabilityCore

/// Keeps the token of an origin, and gets the next one when it is refused.
///
/// Belongs to the session's event loop.
final class TokenKeeper {
    private let source: BearerTokens
    private unowned let core: SessionCore
    private var refresh: TokenRefresh
    private var waiting: [(handle: RequestHandle, response: DataResponse)] = []

    init(_ source: BearerTokens, _ core: SessionCore) {
        self.source = source
        self.core = core
        refresh = .init(token: source.token.flatMap { Self.isSendable($0) ? $0 : nil })
    }

    /// The token to send, and its number; nil while there is none.
    var present: (text: String, generation: TokenRefresh.Generation)? {
        refresh.token.map { ($0, refresh.generation) }
    }

    /// A request with a token went well.
    func accepted(_ generation: TokenRefresh.Generation) { refresh.accepted(generation) }

    /// A request was refused.
    func refused(_ handle: RequestHandle, _ response: DataResponse, _ sent: SentCredential?) -> ResponseDecision {
        let origin = handle.current.url.origin
        var generation: TokenRefresh.Generation?
        if case .token(let number, _) = sent { generation = number }
        let wasRetried = handle.following.renewed == origin
        switch refresh.refused(generation, wasRetried: wasRetried, at: Instant(.now())) {
        case .end: return .end
        case .retry: return goAgain(handle)
        case .wait: break
        case .begin: begin(at: origin)
        }
        waiting.append((handle, response))
        return .deferred
    }

    private func goAgain(_ handle: RequestHandle) -> ResponseDecision {
        handle.following.renewed = handle.current.url.origin
        if core.isObserved(handle) { core.tell(.authenticating(scheme: "bearer", realm: nil), handle) }
        return .resend(handle.current.copy)
    }

    /// Gets the next token in a task of its own: anyone who waits may be cancelled, and the others get it all the same.
    private func begin(at origin: HTTPOrigin) {
        let (source, core, refused) = (source, core, refresh.token)
        Task {
            let result: Result<String, any Error>
            do {
                let token = try await BearerTokens.$isRefreshing.withValue(true) { try await source.refresh(refused) }
                result = .success(token)
            } catch {
                result = .failure(error)
            }
            core.loop.execute { core.authenticator.tokens[origin]?.came(result, for: origin) }
        }
    }

    private func came(_ result: Result<String, any Error>, for origin: HTTPOrigin) {
        let waiting = waiting
        self.waiting = []
        let failure: (any Error)?
        switch result {
        case .success(let token) where Self.isSendable(token):
            refresh.succeeded(token, at: Instant(.now()))
            failure = nil
        case .success:
            refresh.failed()
            failure = UnsendableToken()
        case .failure(let error):
            refresh.failed()
            failure = error
        }
        for (handle, response) in waiting where handle.run.isDeciding {
            let decision =
                failure.map { ResponseDecision.fail(.tokenRefreshFailed(origin, response, $0)) } ?? goAgain(handle)
            core.decided(handle, decision, response)
        }
    }

    /// Whether a field can carry a token: visible ASCII, and some of it.
    private static func isSendable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}

/// The closure gave a token that is empty, or has characters that no field can carry.
struct UnsendableToken: Error, CustomStringConvertible {
    var description: String { "the token is empty, or has other characters than visible ASCII" }
}
