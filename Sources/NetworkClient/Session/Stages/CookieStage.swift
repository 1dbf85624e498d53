import NIOHTTP1
import NetworkClientCore

/// Sends the cookies of a session's store, and stores those of each response (RFC 6265bis).
final class CookieStage: ExchangeStage {
    private let store: CookieStore

    init(_ store: CookieStore) { self.store = store }

    /// Returns whether a request may be sent with cookies of the store; needs no lock.
    func mayAdd(to request: RequestHandle) -> Bool {
        !store.isEmpty && request.current.policy.handlesCookies
    }

    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        guard mayAdd(to: request) else { return .ready }
        let isSafe = [.GET, .HEAD, .OPTIONS, .TRACE].contains(head.method)
        let cookies = store.cookies(for: request.current.url, after: request.request.url, isSafe: isSafe)
        if let value = CookieField.value(cookies, with: head.headers["Cookie"]) {
            head.headers.replaceOrAdd(name: "Cookie", value: value)
        }
        return .ready
    }

    /// Stores the cookies of a response.
    func store(_ head: HTTPResponseHead, _ request: RequestHandle) {
        guard head.headers.contains(name: "Set-Cookie"), request.current.policy.handlesCookies else { return }
        store.receive(head.headers["Set-Cookie"], from: request.current.url, after: request.request.url)
    }
}

extension HTTPSession {
    /// The store of the session's cookies; nil if its policy is ``CookiePolicy/never``.
    public var cookies: CookieStore? { core.cookies }
}
