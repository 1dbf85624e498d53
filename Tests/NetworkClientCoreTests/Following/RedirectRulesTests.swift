import Testing

@testable import NetworkClientCore

struct RedirectRulesTests {
    /// Status and method, and the results by RFC 9110, 15.4: the next method, and whether the body is kept.
    static let table: [(status: Int, method: String, next: String, keeps: Bool)] = [
        (301, "GET", "GET", true), (301, "HEAD", "HEAD", true), (301, "POST", "GET", false),
        (301, "PUT", "PUT", true), (301, "PATCH", "PATCH", true), (301, "DELETE", "DELETE", true),
        (302, "GET", "GET", true), (302, "HEAD", "HEAD", true), (302, "POST", "GET", false),
        (302, "PUT", "PUT", true), (302, "PATCH", "PATCH", true), (302, "DELETE", "DELETE", true),
        (303, "GET", "GET", false), (303, "HEAD", "HEAD", false), (303, "POST", "GET", false),
        (303, "PUT", "GET", false), (303, "PATCH", "GET", false), (303, "DELETE", "GET", false),
        (307, "GET", "GET", true), (307, "HEAD", "HEAD", true), (307, "POST", "POST", true),
        (307, "PUT", "PUT", true), (307, "PATCH", "PATCH", true), (307, "DELETE", "DELETE", true),
        (308, "GET", "GET", true), (308, "HEAD", "HEAD", true), (308, "POST", "POST", true),
        (308, "PUT", "PUT", true), (308, "PATCH", "PATCH", true), (308, "DELETE", "DELETE", true),
    ]

    @Test(arguments: table.indices, RedirectContext.Body.allCases)
    func `redirects follow the table of RFC 9110 at the same and at another origin`(
        row: Int,
        body: RedirectContext.Body
    ) {
        let (status, method, next, keeps) = Self.table[row]
        for isSameOrigin in [true, false] {
            let context = RedirectContext(
                status: status,
                method: method,
                body: body,
                target: .url(.init(isSameOrigin: isSameOrigin))
            )
            let step = RedirectStep(method: next, keepsBody: keeps && body != .none, keepsSecrets: isSameOrigin)
            let expected: RedirectVerdict = keeps && body == .once ? .fail(.bodyNotReplayable) : .follow(step)
            #expect(RedirectRules().verdict(on: context) == expected, "\(status) \(method) \(body) \(isSameOrigin)")
        }
    }

    @Test(arguments: [200, 204, 300, 304, 305, 306, 309, 401, 500])
    func `other statuses are not followed`(status: Int) {
        #expect(
            RedirectRules().verdict(on: .init(status: status, method: "GET", target: .url(.init()))) == .finalResponse
        )
    }

    @Test
    func `redirects are followed up to the limit`() {
        func verdict(_ limit: Int, _ followed: Int) -> RedirectVerdict {
            let context = RedirectContext(status: 302, method: "GET", target: .url(.init()), followed: followed)
            return RedirectRules(limit: limit).verdict(on: context)
        }
        let step = RedirectStep(method: "GET", keepsBody: false, keepsSecrets: true)
        #expect(verdict(20, 19) == .follow(step))
        #expect(verdict(20, 20) == .fail(.tooMany))
        #expect(verdict(0, 0) == .fail(.tooMany))
    }

    @Test
    func `a redirect from https to http needs permission`() {
        let context = RedirectContext(
            status: 301,
            method: "GET",
            target: .url(.init(isSameOrigin: false, isDowngrade: true))
        )
        #expect(RedirectRules().verdict(on: context) == .fail(.downgrade))
        let step = RedirectStep(method: "GET", keepsBody: false, keepsSecrets: false)
        #expect(RedirectRules(allowsDowngrade: true).verdict(on: context) == .follow(step))
    }

    @Test
    func `a redirect without a usable Location fails`() {
        #expect(
            RedirectRules().verdict(on: .init(status: 302, method: "GET", target: .missing)) == .fail(.locationMissing)
        )
        let unusable = RedirectContext(status: 302, method: "GET", target: .unusable)
        #expect(RedirectRules().verdict(on: unusable) == .fail(.locationUnusable))
    }

    @Test
    func `repeated Location values must be equal`() {
        #expect(RedirectReference.single([]) == nil)
        #expect(RedirectReference.single(["/a"]) == "/a")
        #expect(RedirectReference.single(["/a", "/a"]) == "/a")
        #expect(RedirectReference.single(["/a", "/b"]) == nil)
    }

    @Test
    func `the fragment is kept unless the redirect has its own`() {
        #expect(RedirectReference.fragment(of: "/a", after: nil) == nil)
        #expect(RedirectReference.fragment(of: "/a", after: "top") == "top")
        #expect(RedirectReference.fragment(of: "/a#end", after: "top") == "end")
        #expect(RedirectReference.fragment(of: "/a#", after: "top") == "")
    }
}
