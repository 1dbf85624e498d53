import CommandLineSupport
import Testing

@testable import netwatch_fetch

@Suite struct JSONCheckTests {
    @Test(arguments: [
        "{}", "[]", " null ", "true", "false", "0", "-0", "-12.5e+3", "1E5", #""""#, #""a\"\\\/\b\f\n\r\t\u00fFü""#,
        #"{"a":[1,{"b":null}],"c":"d"}"#, "[1 ,\n\t2\r\n]", #"{"a":1,"a":2}"#, "\"\u{7F}\"",
        String(repeating: "[", count: 512) + String(repeating: "]", count: 512),
    ])
    func `JSON`(text: String) throws {
        try JSONCheck.check(Array(text.utf8))
    }

    @Test(arguments: [
        ("", "line 1, column 1: a value is missing"),
        ("{\n  \"a\": 1,\n  b: 2\n}", "line 3, column 3: a name in double quotes"),
        ("[1,]", "line 1, column 4: a value is missing"), (#"{"a" 1}"#, "column 6: a ':' is missing"),
        ("[1 2]", "column 4: a ',' or ']' is missing"), (#"{"a":1"#, "column 7: a ',' or '}' is missing"),
        ("01", "column 2: a number can't begin with 0"), ("-", "column 2: a digit is missing"),
        ("1.", "a digit is missing"),
        ("1e", "a digit is missing"), ("tru", "column 4: the word is not true"), ("nul!", "the word is not null"),
        (#""a"#, "column 3: a string is not ended"), ("\"a\nb\"", "column 3: a control character"),
        (#""\x""#, "there is no such escape"), (#""\u12g4""#, "\\u takes four hex digits"), ("1 2", "should end here"),
        ("'a'", "a value is missing"), ("NaN", "a value is missing"), ("\u{FEFF}{}", "column 1: a value is missing"),
        (#"["üü",x]"#, "column 7: a value is missing"), ("// x", "a value is missing"),
        (String(repeating: "[", count: 600), "deeper than 512 levels"),
    ])
    func `no JSON`(text: String, words: String) throws {
        let error = try #require(throws: ArgumentError.self) { try JSONCheck.check(Array(text.utf8)) }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test func `no UTF-8`() throws {
        let error = try #require(throws: ArgumentError.self) { try JSONCheck.check([0x5B, 0x22, 0xFF, 0x22, 0x5D]) }
        #expect(error.description == "line 1, column 3: this is no UTF-8")
    }
}
