import Testing

@testable import NetworkClient

@Suite("Absolute URLs")
struct HTTPURLTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        var isSecure = false
        var host = "example.com"
        var port = 80
        var authority = "example.com"
        var target = "/"
        var testDescription: String { text }
    }

    static let rows: [Row] = [
        .init(text: "http://example.com"),
        .init(text: "http://example.com/"),
        .init(text: "HTTP://EXAMPLE.com:80/"),
        .init(text: "http://example.com:/"),
        .init(text: "https://example.com/", isSecure: true, port: 443),
        .init(text: "https://example.com:443/", isSecure: true, port: 443),
        .init(text: "https://example.com:80/", isSecure: true, authority: "example.com:80"),
        .init(text: "http://example.com:8080/a", port: 8080, authority: "example.com:8080", target: "/a"),
        .init(text: "http://example.com:00080/"),
        .init(text: "http://example.com?a=b", target: "/?a=b"),
        .init(text: "http://example.com/a?", target: "/a?"),
        .init(text: "http://example.com/a?b?c/../d#e?f", target: "/a?b?c/../d"),
        .init(text: "http://example.com#/not/a/path"),
        .init(text: "http://example.com/a/./b/../c//d/..", target: "/a/c//"),
        .init(text: "http://example.com/../../a", target: "/a"),
        .init(text: "http://example.com/.hidden/..more/...", target: "/.hidden/..more/..."),
        .init(text: "http://example.com/a b/ü?q=ü [1]", target: "/a%20b/%C3%BC?q=%C3%BC%20%5B1%5D"),
        .init(text: "http://example.com/\"<>\\^`{|}", target: "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
        .init(text: "http://example.com/%41%2f", target: "/%41%2f"),
        .init(text: "http://example.com/!$&'()*+,;=:@-._~", target: "/!$&'()*+,;=:@-._~"),
        .init(text: "http://example.com/http://other/", target: "/http://other/"),
        .init(text: "http://my_host.local/", host: "my_host.local", authority: "my_host.local"),
        .init(text: "http://example.com./", host: "example.com.", authority: "example.com."),
        .init(text: "http://ex%61mple.com/"),
        .init(text: "http://1.example.com1/", host: "1.example.com1", authority: "1.example.com1"),
        .init(text: "http://192.0.2.1:81/", host: "192.0.2.1", port: 81, authority: "192.0.2.1:81"),
        .init(text: "http://[2001:DB8::1]/", host: "2001:db8::1", authority: "[2001:db8::1]"),
        .init(text: "http://[::1]:81/", host: "::1", port: 81, authority: "[::1]:81"),
        .init(text: "http://[::ffff:192.0.2.1]/", host: "::ffff:192.0.2.1", authority: "[::ffff:192.0.2.1]"),
        .init(text: "http://[fe80::1%25eth0]:81/", host: "fe80::1%eth0", port: 81, authority: "[fe80::1]:81"),
        .init(text: "http://[fe80::1%eth0]/", host: "fe80::1%eth0", authority: "[fe80::1]"),
    ]

    @Test("A URL's parts are told apart", arguments: rows)
    func parts(row: Row) throws {
        let url = try HTTPURL(row.text)
        #expect(url.isSecure == row.isSecure)
        #expect(url.host == row.host)
        #expect(url.port == row.port)
        #expect(url.authority == row.authority)
        #expect(url.target == row.target)
        #expect(!url.hasCredentials)
        #expect(try HTTPURL("\(url.scheme)://\(url.authority)\(url.target)").target == url.target)
    }

    @Test("User information is decoded, and shown nowhere")
    func credentials() throws {
        let url = try HTTPURL("https://Al%40ice:p%3Aa%2Fss:word@example.com/a?token=secret")
        #expect(url.hasCredentials)
        #expect(url.user == "Al@ice")
        #expect(url.password == "p:a/ss:word")
        #expect(url.description == "https://example.com/a")
        #expect(url.authority == "example.com")
        let nameAlone = try HTTPURL("https://alice@example.com/")
        #expect(nameAlone.user == "alice")
        #expect(nameAlone.password == nil)
        let empty = try HTTPURL("https://:@example.com/")
        #expect(empty.user == "")
        #expect(empty.password == "")
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: String
        let reason: String
        var testDescription: String { text }
        init(_ text: String, _ reason: String) { (self.text, self.reason) = (text, reason) }
    }

    static let refusals: [Refusal] = [
        .init("", "no scheme"),
        .init("example.com/a", "no scheme"),
        .init("//example.com/a", "no scheme"),
        .init(" http://example.com/", "no scheme"),
        .init("localhost:8080/a", "'localhost:' is no scheme"),
        .init("ftp://example.com/", "'ftp:' is no scheme"),
        .init("file:///etc/passwd", "'file:' is no scheme"),
        .init("http:example.com", "two slashes"),
        .init("http:/example.com", "two slashes"),
        .init("http://", "host is empty"),
        .init("http:///a", "host is empty"),
        .init("http://:80/", "host is empty"),
        .init("http://user@/", "host is empty"),
        .init("http://example.com:0/", "port '0'"),
        .init("http://example.com:65536/", "port '65536'"),
        .init("http://example.com:99999999999999999999/", "a number from 1 to 65535"),
        .init("http://example.com:-1/", "port '-1'"),
        .init("http://example.com:+80/", "port '+80'"),
        .init("http://example.com:http/", "port 'http'"),
        .init("http://::1/", "put an IPv6 address in brackets"),
        .init("http://a:b:c/", "put an IPv6 address in brackets"),
        .init("http://[::1/", "not closed"),
        .init("http://[::1]a/", "follows the brackets"),
        .init("http://[]/", "no IPv6 address"),
        .init("http://[127.0.0.1]/", "no IPv6 address"),
        .init("http://[::1%25]/", "zone"),
        .init("http://[fe80::1%25an-endless-interface]/", "zone"),
        .init("http://a@b@c/", "more than one @"),
        .init("http://a%zz@b/", "user name has a %"),
        .init("http://a:%ff@b/", "password is no UTF-8"),
        .init("http://example.com/%", "path has a % without two hexadecimal digits at byte 19"),
        .init("http://example.com/%4", "at byte 19"),
        .init("http://example.com/a?%g0", "query has a %"),
        .init("http://example.com/%\u{FF14}1", "at byte 19"),
        .init("http://exam%ple.com/", "host has a %"),
        .init("http://example.com/a\nb", "control character (0x0A) at byte 20"),
        .init("http://example.com/a\0b", "(0x00)"),
        .init("http://example.com/\u{7F}", "(0x7F)"),
        .init("http://exam ple.com/", "the character ' '"),
        .init("http://example.com%00.org/", "the character"),
        .init("http://example.com%2Fx/", "the character '/'"),
        .init("http://example.com\\@other/", "a backslash"),
        .init("http://u:p\\@h/", "a backslash"),
        .init("http://exam<ple.com/", "the character '<'"),
        .init("http://.example.com/", "nothing before or between its dots"),
        .init("http://example..com/", "nothing before or between its dots"),
        .init("http://example.com../", "nothing before or between its dots"),
        .init("http://./", "nothing before or between its dots"),
        .init("http://\(String(repeating: "a", count: 64)).com/", "too long"),
        .init("http://\(String(repeating: "abcdefg.", count: 32))/", "too long"),
        .init("http://127.1/", "four decimal numbers"),
        .init("http://2130706433/", "four decimal numbers"),
        .init("http://0x7f.1/", "four decimal numbers"),
        .init("http://0x7f000001/", "four decimal numbers"),
        .init("http://127.0.0.0x1/", "four decimal numbers"),
        .init("http://a.0x/", "four decimal numbers"),
        .init("http://010.0.0.1/", "four decimal numbers"),
        .init("http://192.0.2.256/", "four decimal numbers"),
        .init("http://192.0.2.1.5/", "four decimal numbers"),
        .init("http://192.0.2.1./", "four decimal numbers"),
        .init("http://example.1/", "four decimal numbers"),
    ]

    @Test("What is no URL is refused, and told why", arguments: refusals)
    func refused(refusal: Refusal) {
        let error = #expect(throws: HTTPError.self) { try HTTPURL(refusal.text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.processing == .neverSent)
        #expect(error?.reason.contains(refusal.reason) == true, "\(error?.reason ?? "")")
    }

    @Test(
        "No reason shows a password",
        arguments: ["u:hidden@h:x", "u:hidden@", "u:hidden@@h", "u:hidden%zz@h", "u:hidden@h h", "u:hidden@1.2"]
    )
    func secrets(authority: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPURL("http://\(authority)/") }
        #expect(error?.reason.contains("hidden") == false)
    }
}
