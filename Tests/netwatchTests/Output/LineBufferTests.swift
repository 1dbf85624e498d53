import CommandLineLab
import CommandLineSupport
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct LineBufferTests {
    private func written(_ write: (inout LineBuffer) -> Void) -> String {
        // So small that every append must grow it.
        var line = LineBuffer(capacity: 1)
        write(&line)
        return line.text
    }

    @Test(arguments: [
        ("", #""""#), ("wlan0", #""wlan0""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1F}\u{7F}\u{8}", #""\u0000\u001f\u007f\u0008""#), ("ü€😀", #""ü€😀""#),
    ])
    func `JSON strings are escaped`(text: String, json: String) throws {
        #expect(written { $0.append(quotedForJSON: text) } == json)
        #expect(try JSONParser.parse(json) == .string(text))
    }

    @Test func `every character below 256 is decoded as it was encoded`() throws {
        for value in UInt8.min...UInt8.max {
            let text = String(Character(Unicode.Scalar(value)))
            #expect(try JSONParser.parse(written { $0.append(quotedForJSON: text) }) == .string(text))
        }
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, 4_294_967_295, 9_999_999_999_999_999_999, UInt64.max])
    func `unsigned numbers are formatted`(number: UInt64) {
        #expect(written { $0.append(number) } == String(number))
    }

    @Test(arguments: [Int32.min, -1, 0, 7, Int32.max])
    func `signed numbers are formatted`(number: Int32) {
        #expect(written { $0.append(number) } == String(number))
    }

    @Test(arguments: [(0, 6, "000000"), (42, 6, "000042"), (999_999, 6, "999999"), (123, 2, "23"), (5, 1, "5")])
    func `numbers are padded to a width`(number: UInt64, width: Int, text: String) {
        #expect(written { $0.append(number, width: width) } == text)
    }

    @Test(arguments: [
        "0.0.0.0", "255.255.255.255", "192.0.2.10", "::", "::1", "2001:db8::1:0:0:1", "2001:db8:0:1:1:1:1:1",
        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::ffff:255.255.255.255", "::192.0.2.1", "fe80::",
    ])
    func `addresses are formatted`(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(written { $0.append(address) } == text)
    }

    @Test func `growing keeps the contents, which can be removed and appended again`() {
        let text = written { line in
            line.append("static ")
            line.append(text: "a text that is longer than a small string ")
            line.append(UInt8(ascii: "!"))
            var other = LineBuffer()
            other.append("other")
            line.append(other)
            line.append(again: 0..<6)
            line.append(again: 40..<1000)
        }
        let once = "static a text that is longer than a small string !otherstatic"
        #expect(text == once + once.dropFirst(40))
        let shorter = written { line in
            line.append("kept and gone")
            line.remove(from: 4)
            line.append(".")
            line.remove(from: 100)
        }
        #expect(shorter == "kept.")
    }
}
