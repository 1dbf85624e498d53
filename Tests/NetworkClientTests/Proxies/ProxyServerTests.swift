import NetworkClientCore
import Testing

@testable import NetworkClient

struct ProxyServerTests {
    @Test(arguments: [
        ("http://proxy.example:3128", "http://proxy.example:3128"), ("proxy.example:3128", "http://proxy.example:3128"),
        ("http://proxy.example", "http://proxy.example:1080"), ("http://proxy.example:80/", "http://proxy.example:80"),
        ("proxy.example:080", "http://proxy.example:80"), ("https://proxy.example", "https://proxy.example:443"),
        ("https://proxy.example:80", "https://proxy.example:80"), ("SOCKS5://192.0.2.1", "socks5://192.0.2.1:1080"),
        ("socks5h://[2001:db8::1]:9050/x?y#z", "socks5h://[2001:db8::1]:9050"), ("HTTP://PROXY:1", "http://proxy:1"),
        ("http://bücher.example:1", "http://xn--bcher-kva.example:1"), ("https://p:443", "https://p:443"),
    ])
    func `proxies are parsed as in curl`(text: String, meant: String) throws {
        let proxy = try ProxyServer(text)
        #expect("\(proxy)" == meant)
        #expect(proxy.user == nil && proxy.password == nil)
    }

    @Test func `user name and password are decoded`() throws {
        let proxy = try ProxyServer("http://m%40e:p%3A%2Fw:x@proxy:1")
        #expect(proxy.user == "m@e")
        #expect(proxy.password == "p:/w:x")
        #expect(try ProxyServer("http://me@proxy:1").password == "")
        #expect(try ProxyServer(.http, host: "2001:DB8::1", port: 1) == ProxyServer("http://[2001:db8::1]:1"))
    }

    @Test(arguments: [
        "", "http://", "http://:3128", "ftp://proxy:1", "socks4://proxy:1", "socks://proxy", "http://proxy:0",
        "http://proxy:65536", "http://proxy:x", "http://2001:db8::1", "http://[::1", "http://pro xy", "http:///proxy",
        "http://sec%zzret:sec1et@proxy:1", "http://sec1et@sec2et@proxy:1", "http://sec1et:sec2et\\@proxy:1",
        "sec1et/x://proxy", "http://sec%3a1et:x@proxy:1", "socks5://:sec1et@proxy:1",
    ])
    func `the error for an invalid proxy says what to write, and shows no secrets`(text: String) {
        let error = #expect(throws: HTTPError.self) { try ProxyServer(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.processing == .neverSent)
        #expect(error?.reason.hasPrefix("this is no proxy: ") == true)
        #expect(error?.reason.contains("the URL") == false)
        for secret in ["sec1et", "sec2et"] where !text.hasSuffix("://\(secret)") {
            #expect(error?.reason.contains(secret) == false, "\(error?.reason ?? "")")
        }
    }

    @Test func `a login too long for SOCKS is refused`() {
        let long = String(repeating: "x", count: 256)
        #expect(throws: HTTPError.self) { try ProxyServer(.socks5h, host: "p", port: 1, user: long) }
        #expect(throws: HTTPError.self) { try ProxyServer(.socks5, host: "p", port: 1, user: "a", password: long) }
        #expect(throws: Never.self) { try ProxyServer(.http, host: "p", port: 1, user: "a", password: long) }
        #expect(throws: HTTPError.self) { try ProxyServer(.http, host: "a@p", port: 1) }
    }

    @Test func `no description shows the password`() throws {
        let proxy = try ProxyServer("http://me:sec1et@proxy:1")
        var configuration = HTTPConfiguration(proxy: .all(proxy))
        configuration.idleTimeout = nil
        var dumped = ""
        dump(proxy, to: &dumped)
        for text in [
            "\(proxy)", String(reflecting: proxy), dumped, "\(configuration)", "\(ProxyConfiguration.all(proxy))",
        ] {
            #expect(!text.contains("sec1et"))
        }
    }

    @Test func `two are the same by their parts`() throws {
        #expect(try ProxyServer("http://a:b@p:1") == ProxyServer("a:b@p:1"))
        #expect(try ProxyServer("http://a:b@p:1").hashValue == ProxyServer("a:b@p:1").hashValue)
        for other in ["http://a:c@p:1", "http://x:b@p:1", "http://p:1", "https://a:b@p:1", "a:b@q:1", "a:b@p:2"] {
            #expect(try ProxyServer(other) != ProxyServer("a:b@p:1"))
        }
    }
}
