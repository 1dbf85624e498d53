import ReachabilityCore
import Testing

@testable import NetworkClientCore

struct TokenRefreshTests {
    private let now = Instant(nanoseconds: 0)

    @Test
    func `however many are refused at once, one token is got`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        for _ in 0..<199 { #expect(refresh.refused(1, wasRetried: false, at: now) == .wait) }
        refresh.succeeded("b", at: now)
        #expect(refresh.token == "b")
        // A request that was sent with the old token is rejected later.
        #expect(refresh.refused(1, wasRetried: false, at: now) == .retry)
    }

    @Test
    func `who goes again with a newer token and is refused has its answer`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        refresh.succeeded("b", at: now)
        #expect(refresh.refused(2, wasRetried: true, at: now) == .end)
    }

    @Test
    func `a token that is refused as soon as it is got rests`() {
        var refresh = TokenRefresh(token: nil)
        #expect(refresh.refused(nil, wasRetried: false, at: now) == .begin)
        refresh.succeeded("b", at: now)
        #expect(refresh.refused(1, wasRetried: false, at: now.advanced(by: .seconds(9))) == .end)
        #expect(refresh.refused(1, wasRetried: false, at: now.advanced(by: .seconds(10))) == .begin)
    }

    @Test
    func `a token that was good for something is got anew at once`() {
        var refresh = TokenRefresh(token: nil)
        _ = refresh.refused(nil, wasRetried: false, at: now)
        refresh.succeeded("b", at: now)
        refresh.accepted(1)
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
    }

    @Test
    func `what the old token was good for says nothing of the new one`() {
        var refresh = TokenRefresh(token: "a")
        _ = refresh.refused(1, wasRetried: false, at: now)
        refresh.succeeded("b", at: now)
        refresh.accepted(1)
        #expect(refresh.refused(2, wasRetried: false, at: now) == .end)
    }

    @Test
    func `after a failure the next refusal tries again`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        refresh.failed()
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
    }

    @Test
    func `no description shows the token`() {
        let refresh = TokenRefresh(token: "top-secret")
        var text = "\(refresh) \(String(reflecting: refresh))"
        dump(refresh, to: &text)
        #expect(!text.contains("secret"))
    }
}
