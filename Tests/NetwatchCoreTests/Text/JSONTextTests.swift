import NetwatchCore
import Testing

@Suite struct JSONTextTests {
    @Test(arguments: [
        "{}", "[]", " null ", "true", "false", "0", "-0", "-12.5e+3", "1E5", #""""#, #""a\"\\\/\b\f\n\r\t\u00fFü""#,
        #"{"a":[1,{"b":null}],"c":"d"}"#, "[1 ,\n\t2\r\n]", #"{"a":1,"a":2}"#, "\"\u{7F}\"",
        String(repeating: "[", count: 512) + String(repeating: "]", count: 512),
    ])
    func `valid JSON is accepted`(text: String) throws {
        _ = try JSONText(Array(text.utf8)[...])
    }

    @Test(arguments: [
        ("", "line 1, column 1: a value is missing"),
        ("{\n  \"a\": 1,\n  b: 2\n}", "line 3, column 3: a name in double quotes"),
        ("[1,]", "line 1, column 4: a value is missing"), (#"{"a" 1}"#, "column 6: a ':' is missing"),
        ("[1 2]", "column 4: a ',' or ']' is missing"), (#"{"a":1"#, "column 7: a ',' or '}' is missing"),
        ("01", "column 2: a number cannot begin with 0"), ("-", "column 2: a digit is missing"),
        ("1.", "a digit is missing"),
        ("1e", "a digit is missing"), ("tru", "column 4: the word is not true"), ("nul!", "the word is not null"),
        (#""a"#, "column 3: a string is not ended"), ("\"a\nb\"", "column 3: a control character"),
        (#""\x""#, "there is no such escape"), (#""\u12g4""#, "\\u takes four hex digits"), ("1 2", "should end here"),
        ("'a'", "a value is missing"), ("NaN", "a value is missing"), ("\u{FEFF}{}", "column 1: a value is missing"),
        (#"["üü",x]"#, "column 7: a value is missing"), ("// x", "a value is missing"),
        (String(repeating: "[", count: 600), "deeper than 512 levels"),
    ])
    func `invalid JSON is refused`(text: String, words: String) throws {
        let error = try #require(throws: JSONError.self) { try JSONText(Array(text.utf8)[...]) }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func `invalid UTF-8 is refused`() throws {
        let error = try #require(throws: JSONError.self) { try JSONText([0x5B, 0x22, 0xFF, 0x22, 0x5D]) }
        #expect(error.description == "line 1, column 3: this is no UTF-8")
    }

    @Test func `members, elements, strings and numbers are decoded`() throws {
        let array = #"[1, -2.5, "x\u00fc\ud83d\ude00\n\/"]"#
        let text = #" {"a": "# + array + #", "b": null, "c": {"a": 7}, "b": 18446744073709551615} "#
        let members = try #require(try JSONText(Array(text.utf8)[...]).members)
        #expect(Set(members.keys) == ["a", "b", "c"])
        let elements = try #require(members["a"]?.elements)
        #expect(elements.map(\.number) == [1, -2.5, nil])
        #expect(elements.map(\.wholeNumber) == [1, nil, nil])
        #expect(elements.map(\.string) == [nil, nil, "xü😀\n/"])
        #expect(members["b"]?.wholeNumber == .max && members["b"]?.isNull == false)
        #expect(members["c"]?.members?["a"]?.wholeNumber == 7)
        #expect(members["a"]?.members == nil && members["c"]?.elements == nil)
    }

    @Test(arguments: [
        (#""\ud83d""#, nil), (#""\ude00\ud83d""#, nil), (#""""#, ""), (#""\"\\""#, #""\"#), ("7", nil), ("null", nil),
    ])
    func `strings are decoded`(text: String, string: String?) throws {
        #expect(try JSONText(Array(text.utf8)[...]).string == string)
    }

    @Test(
        arguments: [("1.0", 1), ("1e2", 100), ("-1", nil), ("0.5", nil), ("1e30", nil), ("true", nil)]
            as [(String, UInt64?)]
    )
    func `whole numbers are decoded`(text: String, number: UInt64?) throws {
        #expect(try JSONText(Array(text.utf8)[...]).wholeNumber == number)
    }

    @Test func `a part of a larger text is decoded by itself`() throws {
        let bytes = Array("[1] {\"a\": 2}\n{".utf8)
        #expect(try JSONText(bytes[4..<12]).members?["a"]?.number == 2)
        let error = try #require(throws: JSONError.self) { try JSONText(bytes[12...]) }
        #expect(error.description.hasPrefix("line 2, column 2: "))
    }
}
