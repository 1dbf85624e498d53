import FoundationEssentials
import HTTPSerialization
import Testing

/// Tests of JSON numbers: their digits, conversions and equality.
struct JSONNumberTests {
    @Test(arguments: [
        "0", "-0", "1.0", "1e5", "1E-5", "-12.50e+10", "123456789012345678901234567890.123", "1e999999999999999999999",
    ])
    func `a number keeps its text`(text: String) throws {
        #expect(try #require(JSONNumber(text)).description == text)
    }

    @Test(arguments: ["", " 1", "1 ", "+1", "01", ".5", "1.", "0x1", "NaN", "inf", "\"1\"", "[1]", "١"])
    func `other text is no number`(text: String) { #expect(JSONNumber(text) == nil) }

    @Test(arguments: [
        ("1", "1.0", true), ("1", "10e-1", true), ("100", "1e2", true), ("0", "-0.00e7", true), ("1", "-1", false),
        ("0.1", "0.10", true), ("1e400", "10e399", true), ("9007199254740993", "9007199254740992", false),
        ("1", "10", false),
    ])
    func `numbers are equal if their values are`(left: String, right: String, areEqual: Bool) throws {
        let (left, right) = (try #require(JSONNumber(left)), try #require(JSONNumber(right)))
        #expect((left == right) == areEqual)
        #expect(Set([left, right]).count == (areEqual ? 1 : 2))
    }

    @Test func `integers are returned if they fit`() throws {
        #expect(JSONNumber(UInt64.max).integer() == UInt64.max)
        #expect(JSONNumber(UInt64.max).integer(as: Int64.self) == nil)
        #expect(JSONNumber(Int128.min).integer() == Int128.min)
        for (text, value) in [
            ("2.0", 2), ("1e3", 1_000), ("-12.50e1", -125), ("0e99999999999", 0), ("0.5", nil), ("1e999999999", nil),
        ] {
            #expect(try #require(JSONNumber(text)).integer(as: Int.self) == value, "\(text)")
        }
        #expect(JSONNumber(-1).integer(as: UInt8.self) == nil && JSONNumber(256).integer(as: UInt8.self) == nil)
    }

    @Test func `floating-point and decimal numbers are the nearest`() throws {
        #expect(JSONNumber("0.1")?.double == 0.1 && JSONNumber("1e999")?.double == nil)
        #expect(JSONNumber("9007199254740993")?.double == 9_007_199_254_740_992)
        #expect(JSONNumber("0.10")?.decimal == Decimal(string: "0.1") && JSONNumber("1e999")?.decimal == nil)
        let digits = "12345678901234567890.123456789012345678"
        #expect(JSONNumber(digits)?.decimal.map { "\($0)" } == digits)
        #expect(JSONNumber(Double.nan) == nil && JSONNumber(-Double.infinity) == nil && JSONNumber(Decimal.nan) == nil)
        #expect([2.0, 0.1].map { JSONNumber($0)?.description } == ["2", "0.1"])
    }

    @Test func `literals of any size are numbers`() {
        let numbers: [JSONNumber] = [
            0, -1, 1_000_000, -9_223_372_036_854_775_808, 18_446_744_073_709_551_616,
            -123_456_789_012_345_678_901_234_567_890_123_456_789_012_345_678, 0.5,
        ]
        #expect(
            numbers.map(\.description) == [
                "0", "-1", "1000000", "-9223372036854775808", "18446744073709551616",
                "-123456789012345678901234567890123456789012345678", "0.5",
            ]
        )
    }
}
