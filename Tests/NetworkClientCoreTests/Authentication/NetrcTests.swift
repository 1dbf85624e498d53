import Testing

@testable import NetworkClientCore

/// netrc files, read as curl reads them.
struct NetrcTests {
    private func credential(
        _ text: String,
        _ host: String = "example.com",
        user: String? = nil,
        acceptsDefault: Bool = true
    ) throws -> [String]? {
        let found = try Netrc(Array(text.utf8)).credential(for: host, user: user, acceptsDefault: acceptsDefault)
        return found.map { [$0.user, $0.password] }
    }

    @Test(arguments: [
        "machine example.com login a password b",
        "machine example.com\nlogin a\npassword b\n",
        "machine\texample.com\r\n  password b\r\n\tlogin a\r\n",
        "MACHINE Example.COM LOGIN a PASSWORD b",
        "machine other login x password y machine example.com login a account z password b",
        "# machine example.com login x password y\n  # too\nmachine example.com login a password b",
        "macdef init\nmachine example.com login x\n password y\n\nmachine example.com login a password b",
        "machine other login x password y\nmacdef m\nmachine example.com login x password y\n\n"
            + "machine example.com login a password b",
        "machine other account login login x password y machine example.com login a password b",
        "unknown words machine example.com login a password b",
        "machine example.com login \"a\" \"password\" \"b\"",
        "machine example.com login a password b machine example.com login x password y",
        "machine example.com login a machine example.com login a password b",
        "default login a password b\nmachine example.com login x password y",
        "machine example.com\ndefault login a password b",
    ])
    func `forms of an entry are read`(text: String) throws {
        #expect(try credential(text) == ["a", "b"])
    }

    @Test func `quoted tokens contain spaces and escapes, others any character`() throws {
        #expect(
            try credential(#"machine example.com login "a b" password "\"\\\n\r\t\x# ""#) == ["a b", "\"\\\n\r\tx# "]
        )
        #expect(try credential(#"machine example.com login a"b password \c#d""#) == ["a\"b", "\\c#d\""])
        #expect(try credential(#"machine example.com login "" password """#) == ["", ""])
        #expect(try credential("machine example.com login é password ü") == ["é", "ü"])
    }

    @Test func `a missing part is empty, and an entry without both is none`() throws {
        #expect(try credential("machine example.com login a") == ["a", ""])
        #expect(try credential("machine example.com password b") == ["", "b"])
        #expect(try credential("machine example.com") == nil)
        #expect(try credential("machine example.com login") == nil)
        #expect(try credential("machine") == nil)
        #expect(try credential("") == nil)
        #expect(try credential("login a password b") == nil)
    }

    @Test func `entries are chosen by host, user and whether the default counts`() throws {
        let text = """
            machine example.com login a password 1
            machine example.com login b password 2
            machine ::1 login six password 6
            default login d password 3
            """
        #expect(try credential(text) == ["a", "1"])
        #expect(try credential(text, user: "b") == ["b", "2"])
        #expect(try credential(text, user: "d") == ["d", "3"])
        #expect(try credential(text, user: "e") == nil)
        #expect(try credential(text, "::1") == ["six", "6"])
        #expect(try credential(text, "sub.example.com") == ["d", "3"])
        #expect(try credential(text, "sub.example.com", acceptsDefault: false) == nil)
        #expect(try credential(text, acceptsDefault: false) == ["a", "1"])
    }

    @Test(arguments: ["\"", "a \"b", "\n\"b\\", "\n\"b\\\"\n\""])
    func `a quoted token that does not end on its line is an error with the line`(text: String) {
        let error = #expect(throws: NetrcFault.self) { try Netrc(Array(text.utf8)) }
        #expect(error?.line == (text.hasPrefix("\n") ? 2 : 1))
    }

    @Test func `no description shows an entry`() throws {
        let netrc = try Netrc(Array("machine m login anna password secret".utf8))
        var text = "\(netrc)"
        dump(netrc, to: &text)
        #expect(!text.contains("anna") && !text.contains("secret"))
    }
}
