import Testing

@testable import NetworkClientCore

struct ContentRangeTests {
    @Test func `a part of a whole, a part of what has no known end, and no part`() {
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
    func `what is of another form is no range`(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func `a value without end is no range and no burden`() {
        #expect(ContentRange("bytes 0-1/" + String(repeating: "1", count: 1_000_000)) == nil)
    }
}
