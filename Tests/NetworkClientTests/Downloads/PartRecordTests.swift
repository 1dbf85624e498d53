import NetworkClientCore
import Testing

@testable import NetworkClient

struct PartRecordTests {
    private static func url(_ text: String = "http://user:secret@host:81/file?key=secret") throws -> HTTPURL {
        try HTTPURL(text)
    }

    @Test(
        arguments: [
            DownloadPart(validator: .tag(#""a,b""#), total: 7), .init(validator: .tag(#""""#)),
            .init(validator: .date("Sun, 06 Nov 1994 08:49:37 GMT"), total: .max),
        ]
    )
    func `a record survives a round trip`(part: DownloadPart) throws {
        let record = PartRecord(of: try Self.url(), part)
        let bytes = try #require(record.bytes)
        #expect(PartRecord(bytes) == record)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        // Half of it is none.
        for count in 0..<bytes.count { #expect(PartRecord(Array(bytes.prefix(count))) == nil) }
    }

    @Test func `without a validator there is nothing to write`() throws {
        #expect(PartRecord(of: try Self.url(), .init(total: 7)).bytes == nil)
    }

    @Test func `each URL has its own key, whatever its user`() throws {
        let key = try Self.url().downloadKey
        #expect(key == (try Self.url("http://host:81/file?key=secret").downloadKey))
        for other in [
            "https://host:81/file?key=secret", "http://host/file?key=secret", "http://host:81/file?key=other",
        ] {
            #expect(try Self.url(other).downloadKey != key)
        }
    }

    @Test(
        arguments: [
            "etag \"a\"\r\nX: y", "etag W/\"a\"", "etag a", "etag \"a\"\nlast-modified Sun, 06 Nov 1994 08:49:37 GMT",
            "last-modified A\r\nX:y, 06 Nov 1994 08:49:37 GMT", "last-modified A\rX:y, 06 Nov 1994 08:49:37 GMT",
            "last-modified Any, 06 Nov 1994 08:49:37 GMT", "etag \"a\"\r", "etag \"a\"\r\ntotal 7",
            "etag \"a\"\ntotal 7\r",
            "etag \"a\"\nremark \u{1}", "last-modified yesterday",
            "last-modified Sun, 06 Nov 1994 08:49:37 GMT\r\nX: y", "etag \"a\"\ntotal -1",
            "etag \"a\"\ntotal x", "etag \"a\"\netag \"a\"", "etag \"a\"\n", "nothing",
        ]
    )
    func `an invalid record is ignored`(lines: String) {
        let key = String(repeating: "0", count: 64)
        let good = "netwatch download 1\nurl http://host/\nkey \(key)\netag \"a\"\nend\n"
        #expect(PartRecord(Array(good.utf8)) != nil)
        #expect(PartRecord(Array("netwatch download 1\nurl http://host/\nkey \(key)\n\(lines)\nend\n".utf8)) == nil)
        #expect(PartRecord(Array(good.utf8) + Array("\u{0}\n".utf8)) == nil)
        #expect(PartRecord([0xFF] + Array(good.utf8)) == nil)
        #expect(PartRecord(Array(good.utf8) + [UInt8](repeating: 0x61, count: 100_000) + [0x0A]) == nil)
    }
}
