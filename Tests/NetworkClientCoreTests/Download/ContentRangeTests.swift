import Testing

@testable import NetworkClientCore

struct ContentRangeTests {
    @Test func `a range, a range of unknown total, and a total alone are parsed`() {
        #expect(ContentRange("bytes 42-1233/1234")?.bytes == 42...1233)
        #expect(ContentRange("bytes 42-1233/1234")?.total == 1234)
        #expect(ContentRange("Bytes 0-0/*")?.bytes == 0...0)
        #expect(ContentRange("bytes 0-0/*")?.total == nil)
        #expect(ContentRange("bytes */0")?.bytes == nil)
        #expect(ContentRange("bytes */0")?.total == 0)
        #expect(ContentRange("bytes 0-9223372036854775806/9223372036854775807")?.total == .max)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes ", "bytes=0-1/2", "bytes 0-1", "bytes 0-1/", "bytes 0-1/2/3", "bytes 1-0/2",
            "bytes 0-2/2",
            "bytes -1/2", "bytes 0-/2", "bytes */*", "bytes  0-1/2", "bytes 0 - 1/2", "bytes +0-1/2", "bytes 0x0-1/2",
            "bytes 0-1/9223372036854775808", "bytes 99999999999999999999-99999999999999999999/*", "items 0-1/2",
            "bytes 0-1/2, bytes 2-3/4", "bytes \u{0661}-2/3", "bytes --1/2",
        ])
    func `a malformed value is rejected`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `a very long value is rejected early`() {
        #expect(ContentRange("bytes 0-1/" + String(repeating: "1", count: 1_000_000)) == nil)
    }
}
