import NetworkClientCore
import Testing

/// Domains, paths, sites and order (RFC 6265bis, 5.1.3, 5.1.4, 5.7 and 5.8).
struct CookieMatchingTests {
    /// A cookie's domain, the host that sets it, the host that is requested, and whether it is sent there.
    private static let domains: [(String, String, String, Bool)] = [
        ("", "www.example.com", "www.example.com", true), ("", "www.example.com", "example.com", false),
        ("", "example.com", "www.example.com", false), ("", "www.example.com", "a.www.example.com", false),
        ("example.com", "www.example.com", "www.example.com", true),
        ("example.com", "www.example.com", "example.com", true),
        ("example.com", "www.example.com", "a.b.example.com", true),
        ("example.com", "www.example.com", "badexample.com", false),
        ("example.com", "example.com", "www.example.com", true),
        (".example.com", "www.example.com", "example.com", true),
        ("..example.com", "www.example.com", "www.example.com", false),
        ("EXAMPLE.com", "www.example.com", "example.com", true),
        ("www.example.com", "www.example.com", "example.com", false),
        ("www.example.com", "www.example.com", "a.www.example.com", true),
        ("a.www.example.com", "www.example.com", "a.www.example.com", false),
        ("other.example.com", "www.example.com", "other.example.com", false),
        ("ample.com", "example.com", "example.com", false), ("example.org", "example.com", "example.org", false),
        ("com", "bank.com", "bank.com", false), ("com", "evil.com", "bank.com", false),
        (".com", "evil.com", "bank.com", false),
        ("COM", "evil.com", "bank.com", false), ("com.", "evil.com", "bank.com", false), ("com", "com", "com", true),
        ("com", "com", "bank.com", false), ("co.uk", "evil.co.uk", "bank.co.uk", false),
        ("uk", "evil.co.uk", "bank.co.uk", false), ("evil.co.uk", "evil.co.uk", "www.evil.co.uk", true),
        ("github.io", "evil.github.io", "victim.github.io", false), ("github.io", "github.io", "github.io", true),
        ("github.io", "github.io", "victim.github.io", false), ("localhost", "localhost", "localhost", true),
        ("localhost", "localhost", "a.localhost", false), (".", "www.example.com", "www.example.com", true),
        (".", "www.example.com", "a.www.example.com", false),
        ("www.example.com.", "www.example.com", "www.example.com", false),
        ("", "www.example.com.", "www.example.com", true), ("", "www.example.com", "www.example.com.", true),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1", true), ("0.0.1", "127.0.0.1", "127.0.0.1", false),
        (".0.1", "127.0.0.1", "127.0.0.1", false), ("1", "127.0.0.1", "127.0.0.1", false),
        (".127.0.0.1", "127.0.0.1", "127.0.0.1", true), ("", "127.0.0.1", "127.0.0.2", false),
        ("", "[2001:db8::1]", "[2001:db8::1]", true), ("2001:db8::1", "[2001:db8::1]", "[2001:db8::1]", true),
        ("", "[2001:db8::1]", "[2001:db8::2]", false), ("", "[fe80::1%eth0]", "[fe80::1]", true),
        ("xn--bcher-kva.example.com", "www.xn--bcher-kva.example.com", "xn--bcher-kva.example.com", true),
        ("bücher.example.com", "www.xn--bcher-kva.example.com", "www.xn--bcher-kva.example.com", false),
        ("xn--55qx5d.cn", "evil.xn--55qx5d.cn", "bank.xn--55qx5d.cn", false),
        ("a_b.example.com", "a_b.example.com", "x.a_b.example.com", true),
        ("example.com:80", "example.com", "example.com", false),
        ("*.example.com", "www.example.com", "www.example.com", false),
    ]

    @Test(arguments: domains)
    func `a cookie is sent to its domain`(domain: String, setter: String, host: String, isSent: Bool) {
        let lab = CookieLab()
        lab.receive(domain.isEmpty ? "a=b" : "a=b; domain=\(domain)", "http://\(setter)/")
        #expect(lab.field("http://\(host)/") == (isSent ? "a=b" : ""))
    }

    @Test func `of several domains the last counts, also if it is empty`() {
        let lab = CookieLab()
        lab.receive("a=1; domain=example.com; domain=www.example.com")
        lab.receive("b=2; domain=example.com; domain=")
        lab.receive("c=3; domain=evil.org; domain=example.com")
        #expect(lab.field("http://example.com/a") == "c=3")
        #expect(lab.field("http://a.www.example.com/a") == "a=1; c=3")
    }

    /// A cookie's path, the path that sets it, the path that is requested, and whether it is sent there.
    private static let paths: [(String, String, String, Bool)] = [
        ("", "/", "/", true), ("", "/a", "/b", true), ("", "/a/b", "/a", true), ("", "/a/b", "/a/", true),
        ("", "/a/b", "/a/c", true), ("", "/a/b", "/", false), ("", "/a/b", "/ab", false), ("", "/a/b/", "/a/b", true),
        ("", "/a/b/", "/a/c", false), ("", "/a/b?x=/c/d", "/a/c", true), ("", "/a?x", "/", true),
        ("/", "/a/b", "/c", true),
        ("/a", "/", "/a", true), ("/a", "/", "/a/", true), ("/a", "/", "/a/b", true), ("/a", "/", "/ab", false),
        ("/a", "/", "/", false), ("/a", "/", "/A", false), ("/a/", "/", "/a", false), ("/a/", "/", "/a/", true),
        ("/a/", "/", "/a/b", true), ("/a", "/", "/a?b", true), ("/a", "/", "/?/a", false), ("a", "/x/y", "/x/z", true),
        ("a", "/x/y", "/a", false), ("/a//", "/", "/a/b", false), ("/a//", "/", "/a//b", true),
        ("/%61", "/", "/a", false),
        ("/a b", "/", "/a", false), ("/a/../b", "/", "/b", false), ("\"/a\"", "/x/y", "/x/z", true),
        ("/a", "/", "//a", false),
    ]

    @Test(arguments: paths)
    func `a cookie is sent to its path`(path: String, setter: String, target: String, isSent: Bool) {
        let lab = CookieLab()
        lab.receive(path.isEmpty ? "a=b" : "a=b; Path=\(path)", "http://example.com\(setter)")
        #expect(lab.field("http://example.com\(target)") == (isSent ? "a=b" : ""))
    }

    @Test func `longer paths come first, then older cookies`() {
        let lab = CookieLab()
        for field in [
            "a=1; path=/", "b=2; path=/a/b", "c=3; path=/a", "d=4; path=/a; domain=example.com", "e=5; path=/",
        ] {
            lab.receive(field)
        }
        #expect(lab.field() == "b=2; c=3; d=4; a=1; e=5")
        // A cookie that is replaced keeps its place, one that is deleted loses it.
        lab.receive("a=6; path=/")
        lab.receive("c=; path=/a; max-age=0")
        lab.receive("c=7; path=/a")
        #expect(lab.field() == "b=2; d=4; c=7; a=6; e=5")
    }

    @Test func `cookies differ by name, domain, path and whether they are of the host only`() {
        let lab = CookieLab()
        for field in ["a=1", "A=2", "a=3; path=/a/b", "a=4; domain=www.example.com", "a=5; domain=example.com", "a=6"] {
            lab.receive(field)
        }
        #expect(lab.field() == "a=3; a=6; A=2; a=4; a=5")
    }

    @Test func `a cookie that requires TLS is sent with TLS only`() {
        let lab = CookieLab()
        lab.receive("a=1; secure; path=/", "https://www.example.com/")
        lab.receive("b=2; path=/", "https://www.example.com/")
        #expect(lab.field("http://www.example.com/") == "b=2")
        #expect(lab.field("https://www.example.com/") == "a=1; b=2")
        #expect(lab.field("wss://www.example.com/") == "a=1; b=2")
        #expect(lab.field("ws://www.example.com/") == "b=2")
    }

    /// A cookie that is received without TLS, while `a` requires TLS for `/login` of `example.com`.
    @Test(arguments: [
        ("a=2; path=/login; domain=example.com", false), ("a=2; path=/login/en", false), ("a=2; path=/login", false),
        ("a=2; path=/", true), ("a=2; path=/foo", true), ("b=2; path=/login", true), ("A=2; path=/login", true),
        ("a=; path=/login; domain=example.com; max-age=0", false),
    ])
    func `a cookie without TLS does not replace one that requires it`(field: String, isAccepted: Bool) {
        let lab = CookieLab()
        lab.receive("a=1; secure; path=/login; domain=example.com", "https://example.com/")
        #expect(lab.receive(field, "http://www.example.com/") == isAccepted)
    }

    @Test(arguments: [
        ("a=b", true, false), ("a=b; SameSite=Lax", true, false), ("a=b; SameSite=Strict", false, false),
        ("a=b; SameSite=None; Secure", true, true), ("a=b; SameSite=odd", true, false),
        ("a=b; SameSite=Strict; SameSite=Lax", true, false), ("a=b; SameSite=Lax; SameSite=Strict", false, false),
    ])
    func `SameSite limits requests that come from another site`(field: String, safe: Bool, unsafe: Bool) {
        let lab = CookieLab()
        let url = "https://example.com/"
        lab.receive(field, url)
        #expect(lab.field(url) == "a=b")
        #expect(lab.field(url, .other(isSafeMethod: true)).isEmpty != safe)
        #expect(lab.field(url, .other(isSafeMethod: false)).isEmpty != unsafe)
    }

    @Test(
        arguments: [
            ([], "a=1; b=2"), (["c=3"], "a=1; b=2; c=3"), (["b=3"], "a=1; b=3"), (["a=3; b=4"], nil),
            (["c=3", "d=4"], "a=1; b=2; c=3; d=4"),
            ([" b = 3 ; x"], "a=1;  b = 3 ; x"), (["B=3"], "a=1; b=2; B=3"),
        ] as [([String], String?)]
    )
    func `a request's own cookies follow the stored ones, and replace those of the same name`(
        own: [String],
        value: String?
    ) {
        let cookies = [
            Cookie(name: "a", value: "1", domain: "example.com"), Cookie(name: "b", value: "2", domain: "example.com"),
        ]
        #expect(CookieField.value(cookies, with: own) == value)
    }
}
