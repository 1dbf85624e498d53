import NetworkLab
import PathProbing
import Testing
import ValidationCore

struct JSONElementTests {
    private static func parsed(_ text: String) throws(JSONFault) -> JSONElement { try .init(parsing: Array(text.utf8)) }

    @Test(
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("\t\r\nfalse", .bool(false)), ("0", .number("0")),
            ("-0", .number("-0")),
            ("-12.50e+3", .number("-12.50e+3")), ("1E9", .number("1E9")), ("\"\"", .string("")),
            (#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#, .string("a\"\\/\u{8}\u{C}\n\r\té😀é")),
            ("[]", .array([])), ("[1 , [2]]", .array([.number("1"), .array([.number("2")])])), ("{ }", .object([:])),
            (#"{"a":1,"b":{"c":null}}"#, .object(["a": .number("1"), "b": .object(["c": .null])])),
        ] as [(String, JSONElement)]
    )
    func `texts in the grammar of RFC 8259 are parsed`(text: String, expected: JSONElement) throws {
        #expect(try Self.parsed(text) == expected)
    }

    @Test(arguments: [
        "", " ", "tru", "nulls", "True", "01", "-", "-01", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "\"", "\"a",
        "\"\\\"", "\"\\x\"",
        "\"\\u12\"", "\"\\u+123\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\n\"", "[",
        "[1", "[1,", "[1,]", "[,1]",
        "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{1:1}",
        "{\"a\":1,\"a\":2}", "1 2", "{} x",
        "'a'", "\u{FEFF}1", "/**/1", "\"\u{1}\"",
    ])
    func `everything else is refused`(text: String) {
        #expect(throws: JSONFault.self) { try Self.parsed(text) }
    }

    @Test func `a string that is not UTF-8 is refused`() {
        #expect(throws: JSONFault.self) { try JSONElement(parsing: [0x22, 0xC3, 0x28, 0x22]) }
        #expect(throws: JSONFault.self) { try JSONElement(parsing: [0x22, 0xED, 0xA0, 0x80, 0x22]) }
    }

    @Test func `length and depth are limited`() throws {
        let deepest = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(throws: Never.self) { try Self.parsed(deepest) }
        #expect(throws: JSONFault.self) { try Self.parsed("[" + deepest + "]") }
        #expect(throws: JSONFault.self) { try Self.parsed(String(repeating: "[", count: 60_000)) }
        let longest = [UInt8](repeating: 0x20, count: JSONElement.maximumLength - 1) + [0x31]
        #expect(try JSONElement(parsing: longest) == .number("1"))
        #expect(throws: JSONFault.self) { try JSONElement(parsing: [0x20] + longest) }
    }

    @Test func `an error says what is wrong, and where`() {
        let fault = #expect(throws: JSONFault.self) { try Self.parsed(#"{"a": 1, "a": 2}"#) }
        #expect(fault?.description == "an object has the name 'a' twice (at byte 9)")
    }

    @Test func `any bytes are parsed or refused`() {
        var generator = SeededGenerator(seed: 8259)
        let seed = Array(
            #"{"captive":true,"user-portal-url":"https://a.example/\u00e9","x":[1.5e3,null,{"y":-0}]}"#.utf8
        )
        var refused = 0
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0 ... .max, using: &generator)
                if Bool.random(using: &generator) { bytes.removeLast() }
            }
            if (try? JSONElement(parsing: bytes)) == nil { refused += 1 }
        }
        #expect((10_000..<20_000).contains(refused))
    }
}
