import Testing

@testable import NetworkClientCore

struct CredentialTests {
    @Test
    func `no description reveals a credential`() {
        let credential = Credential(user: "mufasa", password: "circle-of-life")
        var text = "\(credential) \(String(reflecting: credential)) \(String(describing: Optional(credential)))"
        dump(credential, to: &text)
        dump([credential], to: &text)
        #expect(!text.contains("mufasa") && !text.contains("circle"), "\(text)")
    }

    @Test
    func `Basic credentials are encoded as in RFC 7617`() {
        func value(_ user: String, _ password: String) -> String? {
            BasicAuthorization.value(.init(user: user, password: password))
        }
        #expect(value("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(value("test", "123\u{A3}") == "Basic dGVzdDoxMjPCow==")
        #expect(value("", "") == "Basic Og==")
        #expect(value("a", "b:c") == "Basic YTpiOmM=")
        #expect(value("a:b", "c") == nil)
        #expect(value("a", "b\r\nX: y") == nil)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("\u{3FF}~\u{7F}", "z79+fw=="),
    ])
    func `Base64 is encoded as in RFC 4648`(text: String, expected: String) {
        #expect(Base64.encoded(Array(text.utf8)) == expected)
    }
}
