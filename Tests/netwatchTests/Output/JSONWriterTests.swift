import Testing

@testable import netwatch

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("", #""""#), ("wlan0", #""wlan0""#), ("a\"b\\c/d", #""a\"b\\c/d""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1F}\u{7F}\u{8}", #""\u0000\u001f\u007f\u0008""#), ("ü€😀", #""ü€😀""#),
    ])
    func `strings`(text: String, json: String) throws {
        #expect(written { $0.string(text) } == json)
        #expect(try JSONParser.parse(json) == .string(text))
    }

    @Test func `every character below 256 comes back`() throws {
        for value in UInt8.min...UInt8.max {
            let text = String(Character(Unicode.Scalar(value)))
            #expect(try JSONParser.parse(written { $0.string(text) }) == .string(text))
        }
    }

    @Test func `commas stand between, and only there`() {
        let text = written { writer in
            writer.object { writer in
                writer.key("a")
                writer.array([1, 2]) { $0.integer($1) }
                writer.key("b")
                writer.object { _ in }
                writer.key("c")
                writer.array([[Int](), [3]]) { $0.array($1) { $0.integer($1) } }
                writer.key("d")
                writer.null()
                writer.key("e")
                writer.string(nil)
                writer.key("f")
                writer.integer(UInt64.max)
            }
        }
        #expect(text == #"{"a":[1,2],"b":{},"c":[[],[3]],"d":null,"e":null,"f":18446744073709551615}"#)
    }
}
