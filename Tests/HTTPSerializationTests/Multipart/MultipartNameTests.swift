import HTTPTypes
import Testing

@testable import HTTPSerialization

/// Tests of names that try to inject fields or parameters.
struct MultipartNameTests {
    @Test(arguments: [
        ("plain", "plain"), ("two words; and=more", "two words; and=more"), ("a\"b", "a%22b"), ("%22", "%22"),
        ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("\n", "%0A"), ("caf\u{E9} 😀.png", "caf\u{E9} 😀.png"),
        ("a\0.png", "a%00.png"), ("\u{1}\u{1F}\u{7F}", "%01%1F%7F"), ("tab\tstays", "tab\tstays"),
        ("C:\\a.txt", "C:\\a.txt"), ("end\\", "end%5C"), ("\\\\server", "%5C\\server"), ("\\\"", "\\%22"), ("", ""),
        ("\u{2028}", "\u{2028}"),
    ])
    func `names are escaped`(name: String, expected: String) { #expect(MultipartName.escaped(name) == expected) }

    @Test func `a name can't start a line, end the quotes or add a parameter`() throws {
        let names = ["\r\n\r\nbody", "x\"; filename=\"evil", "x\\", "\0", "a\u{85}b", "\u{2029}"]
        for name in names {
            let head = try MultipartPart.bytes([], name: name, fileName: name).head(at: 0)
            let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(lines.count == 4, "\(lines)")
            #expect(lines[0].filter { $0 == "\"" }.count == 4)
            #expect(head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 13 || $0 == 10 })
        }
    }

    @Test(arguments: ["text/plain\r\nX-Evil: 1", "text/plain\n", "text/plain\0", "text", "", "a/b; c=\u{E9}", "a b/c"])
    func `an invalid content type is rejected with the part's number`(type: String) {
        let form: MultipartForm = [.text("", name: "a"), .text("", name: "b", contentType: type)]
        #expect {
            try form.encoded(boundary: "B")
        } throws: { error in
            "\(error)".hasPrefix("the content type of part 2 of the form is invalid: \"")
                && "\(error)".hasSuffix("; use type/subtype, such as text/plain; charset=utf-8")
                && !"\(error)".contains("\n") && !"\(error)".contains("\r") && !"\(error)".contains("\0")
        }
    }

    @Test func `custom fields can't inject a line`() throws {
        #expect(HTTPField.Name("X\r\nEvil") == nil)
        #expect(HTTPField.Name("X:") == nil)
        let name = try #require(HTTPField.Name("X-Note"))
        let part = MultipartPart.part(headers: [name: "a\r\nX-Evil: 1\0"], body: [])
        #expect(String(decoding: try part.head(at: 0), as: UTF8.self).split(separator: "\r\n").count == 1)
    }
}
