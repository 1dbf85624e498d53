import FoundationEssentials
import HTTPSerialization
import Testing

/// Tests of JSON values: their accessors, how they are parsed, and how they are written.
struct JSONValueTests {
    private static let user: JSONValue = [
        "id": 18_446_744_073_709_551_615, "name": "Ann", "address": ["city": "Bern", "zip": .null],
        "tags": ["a", 1, [true]],
        "ratio": 0.5, "count": 3,
    ]

    @Test func `subscripts and accessors return the values of their types`() {
        let user = Self.user
        #expect(user["name"]?.string == "Ann")
        #expect(user["address"]?["city"]?.string == "Bern")
        #expect(user["address"]?["zip"]?.isNull == true)
        #expect(user["tags"]?[0]?.string == "a")
        #expect(user["tags"]?[1]?.int == 1)
        #expect(user["tags"]?[2]?[0]?.bool == true)
        #expect(user["tags"]?.array?.count == 3)
        #expect(user["address"]?.object?.keys.sorted() == ["city", "zip"])
        #expect(user["ratio"]?.double == 0.5)
        #expect(user["ratio"]?.number?.decimal == Decimal(string: "0.5"))
        #expect(user["id"]?.number?.integer() == UInt64.max)
        #expect(user["count"]?.int == 3 && user["count"]?.double == 3)
    }

    @Test func `missing keys and wrong types are nil`() {
        let user = Self.user
        #expect(user["none"] == nil && user["name"]?["x"] == nil && user[0] == nil && user["none"]?["x"]?[1] == nil)
        #expect(user["tags"]?[3] == nil && user["tags"]?[-1] == nil && user["tags"]?["a"] == nil)
        #expect(user["name"]?.int == nil && user["name"]?.bool == nil && user["name"]?.array == nil)
        #expect(user["name"]?.double == nil && user["name"]?.object == nil && user["name"]?.number == nil)
        #expect(user["count"]?.string == nil && user["count"]?.bool == nil)
        let other: JSONValue? = user.isNull ? user : nil
        #expect(other == nil)
        #expect(user["ratio"]?.int == nil && user["id"]?.int == nil && user["name"]?.isNull == false)
    }

    @Test func `members are set and removed`() {
        var value: JSONValue = ["a": 1]
        value["b"] = ["c": .null]
        value["b"]?["c"] = 2
        value["a"] = nil
        #expect(value == ["b": ["c": 2]])
        var made = JSONValue.null
        made["a"] = nil
        #expect(made.isNull)
        made["a"] = "x"
        #expect(made == ["a": "x"])
        var text: JSONValue = "x"
        text["a"] = 1
        #expect(text == "x")
    }

    @Test(
        arguments: [
            ("null", .null), (" true ", true), ("false", false), ("\"\"", ""), ("[]", []), ("{}", [:]), ("0", 0),
            ("\t[1,\n2.5 ,\r\"x\", null,{ \"a\" : [ ] } ]", [1, 2.5, "x", .null, ["a": []]]),
            (#""\"\\\/\b\f\n\r\t\u00fc\uD83D\uDC69\u0000""#, "\"\\/\u{8}\u{C}\n\r\tü👩\u{0}"),
            (#"{"a":1,"a":2}"#, ["a": 2]),
            ("\u{FEFF}[1]", [1]), ("\"ü👩‍👧\"", "ü👩‍👧"),
        ] as [(String, JSONValue)]
    )
    func `text is parsed`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text.utf8) == value)
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("nul", 0), ("truE", 0), ("[1,]", 3), ("[1 2]", 3), ("[1", 2), ("{", 1), ("{\"a\"}", 4),
        ("{\"a\":}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("{\"a\":1", 6), ("1 2", 2), ("01", 1), ("-", 1), ("1.", 2),
        (".5", 0), ("1e", 2), ("1e+", 3), ("+1", 0), ("-01", 2), ("0x1", 1), ("NaN", 0), ("Infinity", 0), ("'a'", 0),
        ("\"a", 2), ("\"\u{1F}\"", 1), ("\"\n\"", 1), (#""\x""#, 2), (#""\u12G4""#, 3), (#""\u123"#, 3),
        (#""\uD800""#, 7), (#""\uDC00""#, 7), (#""\uD800\u0041""#, 7), (#""\u+041""#, 3), ("\"\\", 2), ("//\n1", 0),
        ("\u{A0}1", 0), ("]", 0), ("1]", 1),
    ])
    func `what is not JSON is rejected with its position`(text: String, offset: Int) {
        let error = #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: text.utf8) }
        #expect(error?.offset == offset, "\(String(describing: error))")
    }

    @Test func `strings that are not UTF-8 are rejected`() {
        let bad: [[UInt8]] = [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]]
        for bytes in bad {
            #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
            #expect(throws: JSONValue.ParsingError.self) {
                try JSONValue(parsing: [0x22, 0x5C, 0x6E] + bytes + [0x22])
            }
        }
    }

    @Test func `UTF-16 and UTF-32 are parsed with and without a byte order mark`() throws {
        let text = #"{"a":"ü👩"}"#
        for mark in ["", "\u{FEFF}"] {
            let units = Array((mark + text).utf16)
            let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
            let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
            let wide = (mark + text).unicodeScalars.flatMap { scalar in
                [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: scalar.value >> UInt32($0)) }
            }
            let narrow = (mark + text).unicodeScalars.flatMap { scalar in
                [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: scalar.value >> UInt32($0)) }
            }
            for bytes in [big, little, wide, narrow] { #expect(try JSONValue(parsing: bytes) == ["a": "ü👩"]) }
        }
        #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: [0xFE, 0xFF, 0xD8, 0]) }
    }

    @Test func `nesting has a limit`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONValue(parsing: nested(512).utf8).array?.count == 1)
        let error = #expect(throws: JSONValue.ParsingError.self) { try JSONValue(parsing: nested(513).utf8) }
        #expect(error?.offset == 512)
        #expect(throws: JSONValue.ParsingError.self) {
            try JSONValue(parsing: String(repeating: "{\"a\":", count: 100_000).utf8)
        }
    }

    @Test func `values are written with sorted keys`() {
        let value: JSONValue = ["b": [1, 2.5, .null], "a": "\n"]
        #expect("\(value)" == #"{"a":"\n","b":[1,2.5,null]}"#)
    }

    @Test func `values survive a round trip through other coders`() throws {
        let text = #"{"a":[1,2.5,"x",null,true,{}],"b":{"c":-9223372036854775808,"d":18446744073709551615},"e":1e+200}"#
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(try value == JSONValue(parsing: text.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(try String(decoding: encoder.encode(value), as: UTF8.self) == text)
        let exact = #"[12345678901234567890123456789,0.1234567890123456789]"#
        let numbers = try JSONDecoder().decode(JSONValue.self, from: Data(exact.utf8))
        #expect("\(numbers)" == exact)
        #expect(try String(decoding: JSONEncoder().encode(numbers), as: UTF8.self) == exact)
        let list = try PropertyListEncoder().encode(["a": 1])
        #expect(try PropertyListDecoder().decode(JSONValue.self, from: list) == ["a": 1])
    }

    @Test func `any encodable value becomes JSON`() throws {
        struct Report: Encodable {
            var name = "kiosk"
            var note: String?
            var since = Date(timeIntervalSince1970: 0)
            var tags = Set(["b", "a"])
        }
        let expected: JSONValue = ["name": "kiosk", "since": "1970-01-01T00:00:00Z", "tags": ["a", "b"]]
        #expect(try JSONValue(encoding: Report()) == expected)
        #expect(try JSONValue(encoding: Report(), options: .init(dates: .secondsSince1970))["since"] == 0)
        #expect(try JSONValue(encoding: 7) == 7)
        #expect(try JSONValue(encoding: [String]()) == [])
        #expect(try JSONValue(encoding: Int?.none) == .null)
        #expect(throws: RequestSerializationError.self) { try JSONValue(encoding: Double.nan) }
    }

    @Test func `nulls are removed at any depth`() {
        let value: JSONValue = ["a": .null, "b": [.null, ["c": .null, "d": 1]]]
        #expect(value.withoutNulls == ["b": [["d": 1]]])
    }

    @Test func `the later value of a duplicate key is used`() {
        #expect(["a": 1, "a": 2] as JSONValue == .object(["a": 2]))
    }
}
