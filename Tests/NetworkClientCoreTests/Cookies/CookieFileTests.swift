import NetworkClientCore
import Testing

/// Files of cookies in the format of Netscape.
struct CookieFileTests {
    @Test func `a file is read and written back`() throws {
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            www.example.com\tFALSE\t/a\tFALSE\t0\tname\tvalue
            #HttpOnly_.example.com\tTRUE\t/\tTRUE\t2000000000\tsid\tx=y z
            127.0.0.1\tFALSE\t/\tFALSE\t5\tempty\t

            """
        let cookies = try CookieFile.cookies(Array(text.utf8))
        #expect(
            cookies == [
                .init(name: "name", value: "value", domain: "www.example.com", path: "/a"),
                .init(
                    name: "sid",
                    value: "x=y z",
                    domain: "example.com",
                    isHostOnly: false,
                    expires: 2_000_000_000,
                    isSecure: true,
                    isHTTPOnly: true
                ), .init(name: "empty", value: "", domain: "127.0.0.1", expires: 5),
            ]
        )
        #expect(CookieFile.text(cookies) == text)
        let windows = text.replacing("\n", with: "\r\n")
        #expect(try CookieFile.cookies(Array(windows.utf8)) == cookies)
    }

    @Test(arguments: [
        ("Example.COM\ttrue\t/\tfalse\t0\ta", "example.com", "/"), ("e.com\tTRUE\tx\tFALSE\t0\ta\t", "e.com", "/"),
        ("#HttpOnly_e.com\tFALSE\t/p\tFALSE\t0\ta\t", "e.com", "/p"),
        ("127.0.0.1\tTRUE\t/\tFALSE\t0\ta\t", "127.0.0.1", "/"),
    ])
    func `lines of other programs are read`(line: String, domain: String, path: String) throws {
        let cookie = try #require(try CookieFile.cookies(Array("\n#comment\n \n\(line)".utf8)).first)
        #expect(cookie.domain == domain && cookie.path == path && cookie.name == "a" && cookie.value.isEmpty)
        if domain == "127.0.0.1" { #expect(cookie.isHostOnly) }
    }

    @Test(arguments: [
        ("root:x:0:0:root:/root:/bin/bash", "it has 1 fields"), ("a\tTRUE\t/\tFALSE\t0", "it has 5 fields"),
        ("a\tTRUE\t/\tFALSE\t0\tn\tv\tw", "it has 8 fields"), ("a.b\tYES\t/\tFALSE\t0\tn\tv", "must be TRUE or FALSE"),
        ("a.b\tTRUE\t/\tFALSE\tnever\tn\tv", "a number of seconds"),
        ("a.b\tTRUE\t/\tFALSE\t-1\tn\tv", "a number of seconds"),
        ("\tTRUE\t/\tFALSE\t0\tn\tv", "its domain must"), ("a.b\tTRUE\t/\tFALSE\t0\t\t", "1 to 4096 bytes"),
        ("a.b\tTRUE\t/\tFALSE\t0\t__Host-n\tv", "prefix"), ("a.b\tTRUE\t/\tFALSE\t0\tn\tv;w", "';'"),
        ("a.b\tTRUE\t/\tFALSE\t0\tn\tv\u{1}", "control characters"),
    ])
    func `a file that is none of cookies is refused with the line, without its contents`(line: String, reason: String) {
        let fault = #expect(throws: CookieFileFault.self) { try CookieFile.cookies(Array("#\n\(line)\n".utf8)) }
        #expect(fault?.line == 2)
        #expect(fault?.flaw.contains(reason) == true)
        #expect(fault?.description.contains("root:") == false)
    }

    @Test func `cookies that the format cannot represent are left out`() {
        let cookies = ["a\tb", "v"].flatMap { value in
            ["", "n"].map { Cookie(name: $0, value: value, domain: "e.com") }
        }
        #expect(CookieFile.text(cookies).hasSuffix("\n\ne.com\tFALSE\t/\tFALSE\t0\tn\tv\n"))
    }
}
