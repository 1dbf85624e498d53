import NIOCore
import NetworkClientCore
import ReachabilityCore

/// The current token of an origin, which is refreshed when a server rejects it.
///
/// Confined to the session's event loop.
final class TokenKeeper {
    private let source: BearerTokens
    private unowned let core: SessionCore
    private var refresh: TokenRefresh
    private var waiting: [(handle: RequestHandle, response: DataResponse)] = []
    /// The closures of the requests that wait for the first token; they get the error if there is none.
    private var starting: [(HTTPError?) -> Void] = []
    /// Whether the first token is obtained before a request is sent.
    let isPreemptive: Bool

    init(_ source: BearerTokens, _ core: SessionCore) {
        self.source = source
        self.core = core
        isPreemptive = source.isPreemptive
        refresh = .init(token: source.token.flatMap { Self.isSendable($0) ? $0 : nil })
    }

    /// The token to send, and its number; nil if there is none.
    var present: (text: String, generation: TokenRefresh.Generation)? {
        refresh.token.map { ($0, refresh.generation) }
    }

    /// Records that a request with a token succeeded.
    func accepted(_ generation: TokenRefresh.Generation) { refresh.accepted(generation) }

    /// Obtains the first token, unless there is one or it is being obtained, and calls a closure when that has ended.
    func obtain(at origin: HTTPOrigin, _ whenEnded: @escaping (HTTPError?) -> Void) {
        switch refresh.refused(nil, wasRetried: false, at: Instant(.now())) {
        case .end, .retry: return whenEnded(nil)
        case .wait: break
        case .begin: begin(at: origin)
        }
        starting.append(whenEnded)
    }

    /// Decides about a request that was rejected.
    func refused(_ handle: RequestHandle, _ response: DataResponse, _ sent: SentCredential?) -> ResponseDecision {
        let origin = handle.current.url.origin
        var generation: TokenRefresh.Generation?
        if case .token(let number, _) = sent { generation = number }
        let wasRetried = handle.following.renewed == origin
        switch refresh.refused(generation, wasRetried: wasRetried, at: Instant(.now())) {
        case .end: return .end
        case .retry: return resend(handle)
        case .wait: break
        case .begin: begin(at: origin)
        }
        waiting.append((handle, response))
        return .deferred
    }

    private func resend(_ handle: RequestHandle) -> ResponseDecision {
        handle.following.renewed = handle.current.url.origin
        if core.events.isObserved(handle) { core.events.tell(.authenticating(scheme: "bearer", realm: nil), handle) }
        return .resend(handle.current.copy)
    }

    /// Obtains the next token, in a task that does not depend on any of the waiting requests.
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
            core.loop.execute { core.authenticator.tokens[origin]?.refreshEnded(result, for: origin) }
        }
    }

    private func refreshEnded(_ result: Result<String, any Error>, for origin: HTTPOrigin) {
        let (waiting, starting) = (waiting, starting)
        (self.waiting, self.starting) = ([], [])
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
        for whenEnded in starting { whenEnded(failure.map { origin.tokenRefreshFailed($0) }) }
        for (handle, response) in waiting where handle.run.isDeciding {
            let decision =
                failure.map { ResponseDecision.fail(origin.tokenRefreshFailed(after: response, $0)) } ?? resend(handle)
            core.decided(handle, decision, response)
        }
    }

    /// Returns whether a token is a valid field value: not empty, and visible ASCII only.
    private static func isSendable(_ token: String) -> Bool {
        !token.isEmpty && token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}

/// The error for a token that is empty, or has invalid characters.
struct UnsendableToken: Error, CustomStringConvertible {
    var description: String { "the token is empty, or contains characters other than visible ASCII" }
}
