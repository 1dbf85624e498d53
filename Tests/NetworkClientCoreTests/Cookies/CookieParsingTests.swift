import NetworkClientCore
import Testing

/// The `Set-Cookie` field (RFC 6265bis, 5.6).
struct CookieParsingTests {
    /// A field, and what is sent back.
    private static let fields: [(String, String)] = [
        ("a=b", "a=b"), ("a=", "a="), ("a", "a"), ("=b", "b"), ("=a=b", "a=b"), ("a=b=c", "a=b=c"), ("a==b", "a==b"),
        (" a = b ", "a=b"), ("\ta\t=\tb\t", "a=b"), ("a b=c d", "a b=c d"), ("a=b;", "a=b"), ("a=b; ", "a=b"),
        ("a=b;;;", "a=b"), ("a=b; c=d", "a=b"), ("a=b,c=d", "a=b,c=d"), ("a=\"b\"", "a=\"b\""),
        ("a=\"b;c\"", "a=\"b"), ("a=%20b", "a=%20b"), ("a=b%3B", "a=b%3B"), ("A=b", "A=b"), ("a=ü", "a=ü"),
        ("ü=b", "ü=b"), ("a=b\tc", "a=b\tc"), ("$Version=1", "$Version=1"), ("a=b; expires", "a=b"),
        ("a=b; foo=bar; baz", "a=b"), ("a=b; Partitioned", "a=b"), ("a=b; HttpOnly", "a=b"),
        ("a=b; httponly=false", "a=b"), ("a=b; Priority=High", "a=b"), ("a=b; Version=1; Comment=x", "a=b"),
        ("a=b; SameSite", "a=b"), ("a=b; SameSite=foo", "a=b"), ("a=b; samesite=LAX", "a=b"),
        ("a=b; SameSite=Strict", "a=b"), ("Domain=b", "Domain=b"), ("secure", "secure"), ("a=b;path=/;domain", "a=b"),
        ("a=b; max-age=", "a=b"), ("a=b; max-age=x", "a=b"), ("a=b; max-age=1x", "a=b"), ("a=b; max-age=+1", "a=b"),
        ("a=b; max-age=-", "a=b"), ("a=b; max-age=\"0\"", "a=b"), ("a=b; max-age=0.5", "a=b"),
        ("a=b; max-age=1", "a=b"),
        ("a=b; max-age= 1 ", "a=b"), ("a=b; max-age=99999999999999999999999", "a=b"),
        ("a=b; expires=yesterday", "a=b"), ("a=b; expires=Wed, 01 Jan 2031 00:00:00 GMT", "a=b"),
        ("a=b; max-age=1; expires=Wed, 01 Jan 2020 00:00:00 GMT", "a=b"), ("a=b; max-age=0; max-age=5", "a=b"),
        ("a=b; expires=Wed, 01 Jan 2020 00:00:00 GMT; expires=Wed, 01 Jan 2031 00:00:00 GMT", "a=b"),
        ("a=b; max-age=5; max-age=x", "a=b"), ("a=b; EXPIRES=Wed, 01 Jan 2031 00:00:00 GMT", "a=b"),
    ]

    @Test(arguments: fields)
    func `a cookie is stored and sent back as it was received`(field: String, sent: String) {
        let lab = CookieLab()
        #expect(lab.receive(field))
        #expect(lab.field() == sent)
    }

    @Test(arguments: [
        "", " ", ";", "; a=b", "=", " = ", "=;a=b", "a=b\u{0}", "a=b\u{1}", "a\u{8}=b", "a=b\u{A}c", "a=b\u{D}",
        "a=b\u{1F}",
        "a=b\u{7F}", "a=b; path=/\u{1}", "a=b; foo\u{7F}", "a=b; Secure", "a=b; secure=false", "a=b; SameSite=None",
        "__Secure-a=b", "__Host-a=b; Path=/", "__secure-a=b", "__HOST-a=b; Path=/", "=__Secure-a=b", "__Host-a",
        "=__host-a",
    ])
    func `a cookie that is invalid, or requires what its request lacks, is ignored`(field: String) {
        let lab = CookieLab()
        #expect(!lab.receive(field))
        #expect(lab.field().isEmpty && lab.table.count == 0)
    }

    @Test(arguments: [
        "a=; max-age=0", "a=b; max-age=-1", "a=b; max-age=-99999999999999999999", "a=b; max-age=00",
        "a=b; expires=Wed, 01 Jan 2020 00:00:00 GMT", "a=b; expires=Thu, 01 Jan 1970 00:00:00 GMT",
        "a=b; expires=Thu, 01 Jan 2026 00:00:00 GMT", "a=b; max-age=0; expires=Wed, 01 Jan 2031 00:00:00 GMT",
        "a=b; Max-Age=5; Max-Age=0", "a=b; expires=01-Jan-1601 00:00:00",
    ])
    func `a cookie of the past deletes the stored one`(field: String) {
        let lab = CookieLab()
        lab.receive("a=1")
        lab.receive("c=2")
        lab.receive(field)
        #expect(lab.field() == "c=2" && lab.table.count == 1)
    }

    @Test(arguments: [
        ("a=b; Secure", true), ("a=b; SameSite=None; Secure", true), ("__Secure-a=b; Secure", true),
        ("__Secure-a=b", false), ("__Host-a=b; Secure; Path=/", true), ("__Host-a=b; Secure", false),
        ("__Host-a=b; Path=/", false), ("__Host-a=b; Secure; Path=/a", false),
        ("__Host-a=b; Secure; Path=/; Domain=www.example.com", false), ("__host-a=b; Secure; Path=/", true),
        ("__host-a=b; Secure", false), ("__Host-a=b; Secure; Path=/; Domain=", true), ("__Hosta=b", true),
        ("a=__Host-b", true), ("__Secure-=b; Secure", true), ("=__Secure-a; Secure", false),
        ("__Host-=b; Secure; Path=/; SameSite=Strict; HttpOnly; Partitioned", true),
    ])
    func `prefixes hold over TLS`(field: String, isAccepted: Bool) {
        let lab = CookieLab()
        #expect(lab.receive(field, "https://www.example.com/a/b") == isAccepted)
        #expect(lab.field("https://www.example.com/a/b").isEmpty == !isAccepted)
    }

    @Test(arguments: [
        (4_095, 1, true), (1, 4_095, true), (4_096, 1, false), (1, 4_096, false), (2_048, 2_048, true),
        (0, 4_096, true),
        (0, 4_097, false),
    ])
    func `name and value have at most 4096 bytes together`(name: Int, value: Int, isAccepted: Bool) {
        let lab = CookieLab()
        let field = String(repeating: "n", count: name) + "=" + String(repeating: "v", count: value)
        #expect(lab.receive(field) == isAccepted)
    }

    @Test func `an attribute of more than 1024 bytes is ignored`() {
        let lab = CookieLab()
        let long = String(repeating: "x", count: 1_024)
        lab.receive("a=1; path=/a; path=/\(long)")
        lab.receive("b=2; domain=\(long)x")
        #expect(lab.field() == "a=1; b=2")
        // One of 1,024 bytes counts.
        lab.receive("c=3; path=/\(long.dropFirst())")
        lab.receive("d=4; domain=\(long)")
        #expect(lab.field() == "a=1; b=2" && lab.table.count == 3)
    }

    @Test func `a cookie lives for 400 days at most`() {
        for field in ["a=b; max-age=99999999", "a=b; expires=Fri, 31 Dec 9999 23:59:59 GMT"] {
            let lab = CookieLab()
            lab.receive(field)
            lab.now += 400 * 86_400 - 1
            #expect(lab.field() == "a=b")
            lab.now += 1
            #expect(lab.field().isEmpty)
        }
    }

    @Test func `a session cookie has no expiry, and an expired one is not sent`() {
        let lab = CookieLab()
        lab.receive("a=b")
        lab.receive("c=d; max-age=10")
        #expect(lab.table.cookies(now: lab.now).map(\.expires) == [nil, lab.now + 10])
        lab.now += 10
        #expect(lab.field() == "a=b")
        #expect(lab.table.cookies(now: lab.now).map(\.name) == ["a"])
        lab.table.removeExpired(lab.now)
        #expect(lab.table.count == 1)
    }

    @Test func `no description has a cookie's value`() {
        let cookie = Cookie(name: "sid", value: "topsecret", domain: "example.com")
        #expect(cookie.description == "Cookie(sid=(hidden); Domain=example.com; Path=/)")
        #expect(!"\(cookie.debugDescription) \(String(reflecting: [cookie]))".contains("topsecret"))
        #expect(Mirror(reflecting: cookie).children.isEmpty)
    }
}
