/// ASCII character classes and percent-encoding.
extension UInt8 {
    /// A letter or a digit.
    var isASCIIAlphanumeric: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
    }

    /// The percent-encoded byte: `%` and two hexadecimal digits (RFC 3986, 2.1).
    var percentEncoded: [UInt8] { [UInt8(ascii: "%"), Self.digit(self >> 4), Self.digit(self & 0xF)] }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
