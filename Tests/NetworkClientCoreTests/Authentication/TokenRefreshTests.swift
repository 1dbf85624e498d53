import ReachabilityCore
import Testing

@testable import NetworkClientCore

struct TokenRefreshTests {
    private let now = Instant(nanoseconds: 0)

    @Test
    func `many rejected requests cause one refresh`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        for _ in 0..<199 { #expect(refresh.refused(1, wasRetried: false, at: now) == .wait) }
        refresh.succeeded("b", at: now)
        #expect(refresh.token == "b")
        // A request that was sent with the old token is rejected later.
        #expect(refresh.refused(1, wasRetried: false, at: now) == .retry)
    }

    @Test
    func `a request that is rejected again after a retry fails`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        refresh.succeeded("b", at: now)
        #expect(refresh.refused(2, wasRetried: true, at: now) == .end)
    }

    @Test
    func `a new token that is rejected immediately is not refreshed for a while`() {
        var refresh = TokenRefresh(token: nil)
        #expect(refresh.refused(nil, wasRetried: false, at: now) == .begin)
        refresh.succeeded("b", at: now)
        #expect(refresh.refused(1, wasRetried: false, at: now.advanced(by: .seconds(9))) == .end)
        #expect(refresh.refused(1, wasRetried: false, at: now.advanced(by: .seconds(10))) == .begin)
    }

    @Test
    func `a token that was accepted before is refreshed immediately`() {
        var refresh = TokenRefresh(token: nil)
        _ = refresh.refused(nil, wasRetried: false, at: now)
        refresh.succeeded("b", at: now)
        refresh.accepted(1)
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
    }

    @Test
    func `acceptance of the old token says nothing about the new one`() {
        var refresh = TokenRefresh(token: "a")
        _ = refresh.refused(1, wasRetried: false, at: now)
        refresh.succeeded("b", at: now)
        refresh.accepted(1)
        #expect(refresh.refused(2, wasRetried: false, at: now) == .end)
    }

    @Test
    func `after a failed refresh the next rejection starts another`() {
        var refresh = TokenRefresh(token: "a")
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
        refresh.failed()
        #expect(refresh.refused(1, wasRetried: false, at: now) == .begin)
    }

    @Test
    func `no description reveals the token`() {
        let refresh = TokenRefresh(token: "top-secret")
        var text = "\(refresh) \(String(reflecting: refresh))"
        dump(refresh, to: &text)
        #expect(!text.contains("secret"))
    }
}
