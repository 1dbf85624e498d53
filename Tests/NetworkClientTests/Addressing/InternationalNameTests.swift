import Testing

@testable import NetworkClient

@Suite("International host names")
struct InternationalNameTests {
    @Test(
        "Names of all scripts take their ASCII form, as UTS #46 maps them",
        arguments: [
            ("münchen.de", "xn--mnchen-3ya.de"), ("MÜNCHEN.de", "xn--mnchen-3ya.de"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"),
            // Non-transitional: the sharp s and the final sigma are kept.
            ("faß.de", "xn--fa-hia.de"), ("βόλος.com", "xn--nxasmm1c.com"),
            ("例え.jp", "xn--r8jz45g.jp"), ("例え。jp", "xn--r8jz45g.jp"), ("ｅｘａｍｐｌｅ．com", "example.com"),
            ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
            ("www.bücher.example.", "www.xn--bcher-kva.example."),
            ("my_hüst.local", "xn--my_hst-6ya.local"),
        ]
    )
    func translated(name: String, ascii: String) throws {
        #expect(try HTTPURL("http://\(name)/").host == ascii)
    }

    @Test("A percent-encoded name is the same name")
    func encoded() throws {
        #expect(try HTTPURL("http://m%C3%BCnchen.de:81/").authority == "xn--mnchen-3ya.de:81")
        #expect(try HTTPURL("http://XN--MNCHEN-3YA.de/").host == "xn--mnchen-3ya.de")
    }

    @Test(
        "What is no name by IDNA's rules is refused",
        arguments: [
            "☃\u{338}\u{301}.\u{202E}com", "\u{200B}\u{00AD}", "\u{0300}a.com", "ü..com", "-ü.com",
            "\(String(repeating: "ü", count: 60)).com",
        ]
    )
    func refused(name: String) {
        let error = #expect(throws: HTTPError.self) { try HTTPURL("http://\(name)/") }
        #expect(error?.code == .invalidURL)
    }

    @Test("What a name is mapped to is judged as it would be without")
    func numbers() {
        for name in ["１２７.１", "0ｘ7f.1", "①２７.0.0.1.5"] {
            #expect(throws: HTTPError.self, "\(name)") { try HTTPURL("http://\(name)/") }
        }
    }

    @Test("Without the library there is none, which is no crash")
    func missing() {
        #expect(InternationalName.Library(name: "libidn2-that-is-not-there.so.0") == nil)
        #expect(InternationalName.Library(name: "libm.so.6") == nil)
    }
}
