import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Obtains the first token of an origin before a request is sent, where the policy says so.
final class TokenStage: ExchangeStage {
    private unowned let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    func mayDefer(_ request: RequestHandle) -> Bool { origin(withoutToken: request) != nil }

    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        guard let origin = origin(withoutToken: request) else { return .ready }
        let (core, head) = (core, head)
        return .deferred { () async throws(HTTPError) in
            try await Self.obtainToken(for: origin, core)
            return head
        }
    }

    /// Returns the origin for which a token has to be obtained; nil if the request needs none, or there is one.
    private func origin(withoutToken request: RequestHandle) -> HTTPOrigin? {
        guard core.obtainsTokens, let login = request.current.login, login.own == nil else { return nil }
        let origin = request.current.url.origin
        guard let keeper = core.authenticator.tokens[origin], keeper.isPreemptive, keeper.present == nil else {
            return nil
        }
        return origin
    }

    /// Waits for the first token of an origin.
    ///
    /// - Throws: `tokenRefreshFailed` if there is none.
    private static func obtainToken(for origin: HTTPOrigin, _ core: SessionCore) async throws(HTTPError) {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<HTTPError?, Never>) in
            core.loop.execute {
                guard let keeper = core.authenticator.tokens[origin] else {
                    return continuation.resume(returning: nil)
                }
                keeper.obtain(at: origin) { continuation.resume(returning: $0) }
            }
        }
        if let result { throw result }
    }
}
