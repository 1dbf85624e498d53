import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

struct DecompressorTests {
    /// Text that compresses, longer than a piece.
    private static let text = Array((0..<9_000).map { "line \($0)\n" }.joined().utf8)

    @Test(arguments: ["gzip", "x-gzip", "GZIP", " gzip\t", "deflate"], Wrapping.allCases)
    func `each coding is decoded, and either format accepted for the other`(name: String, wrapping: Wrapping) throws {
        // Bare data have no header; only 'deflate' may be such.
        if wrapping == .bare, name != "deflate" { return }
        #expect(try decompress(compressed(Self.text, wrapping), name) == Self.text)
        #expect(try decompress(compressed([], wrapping), name) == [])
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `the output does not depend on how the input is split`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let members = compressed(Self.text) + compressed([]) + compressed(Array("end".utf8), level: 0)
        let largest = seed == 1 ? 1 : Int.random(in: 1...5000, using: &generator)
        var splits: [Int] = []
        var count = 0
        while count < members.count {
            splits.append(.random(in: 0...largest, using: &generator))
            count += splits[splits.count - 1]
        }
        #expect(try decompress(members, "gzip", splits: splits) == Self.text + Array("end".utf8))
    }

    @Test func `the output of gzip is decoded, with its name`() throws {
        let file: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x08, 0xB0, 0x7C, 0x01, 0x6B, 0x00, 0x03, 0x6C, 0x61, 0x62, 0x2D, 0x61, 0x2E, 0x74, 0x78,
            0x74, 0x00, 0x2B, 0xCF, 0x48, 0x2C, 0x51, 0x48, 0xCF, 0x4F, 0x2D, 0x56, 0xC8, 0x2F, 0x4B, 0x2D, 0x52, 0x28,
            0xC9, 0x48, 0x55, 0x28, 0xCF, 0x2C, 0x4A, 0xE5, 0x02, 0x00, 0x69, 0xBE, 0x16, 0xC5, 0x18, 0x00, 0x00, 0x00,
        ]
        #expect(try decompress(file, "gzip") == Array("what goes over the wire\n".utf8))
    }

    @Test func `a head with every field is read, and its checksum checked`() throws {
        var file: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x1F, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0x06, 0x00, 0x41, 0x42, 0x78, 0x79, 0x7A, 0x77,
            0x6E, 0x61, 0x6D, 0x65, 0x00, 0x63, 0x6F, 0x6D, 0x6D, 0x65, 0x6E, 0x74, 0x00, 0x90, 0xFC, 0x2B, 0xCF, 0x48,
            0x2C, 0x51, 0x48, 0xCF, 0x4F, 0x2D, 0x56, 0xC8, 0x2F, 0x4B, 0x2D, 0x52, 0x28, 0xC9, 0x48, 0x55, 0x28, 0xCF,
            0x2C, 0x4A, 0xE5, 0x02, 0x00, 0x69, 0xBE, 0x16, 0xC5, 0x18, 0x00, 0x00, 0x00,
        ]
        for largest in [1, 7, file.count] {
            let splits = [Int](repeating: largest, count: file.count)
            #expect(try decompress(file, "gzip", splits: splits) == Array("what goes over the wire\n".utf8))
        }
        file[20] ^= 1
        let error = #expect(throws: HTTPError.self) { try decompress(file, "gzip") }
        #expect(error?.reason.hasSuffix("header crc mismatch") == true)
    }

    @Test func `bytes after the last member are ignored`() throws {
        let member = compressed(Self.text)
        for rest in [[0], [0, 0, 0, 0], [0x1F], [0x1F, 0x1F, 0x8B], Array("garbage".utf8)] as [[UInt8]] {
            #expect(try decompress(member + rest, "gzip") == Self.text)
            #expect(try decompress(member + rest, "gzip", splits: [member.count] + rest.map { _ in 1 }) == Self.text)
            #expect(try decompress(compressed(Self.text, .bare) + rest, "deflate") == Self.text)
        }
    }

    @Test func `no bytes at all are no content, and codings that change nothing need no work`() throws {
        #expect(try decompress([], "gzip") == [])
        #expect(try Decompressor(contentEncoding: ["identity", " ,", ""], limit: nil) == nil)
        #expect(try Decompressor(contentEncoding: [], limit: nil) == nil)
    }

    @Test func `several codings are decoded from the last to the first, up to a limit`() throws {
        let body = compressed(compressed(compressed(Self.text, .zlib), .bare))
        #expect(try decompress(body, "deflate, deflate", "gzip") == Self.text)
        let error = #expect(throws: HTTPError.self) { try decompress([], "gzip, gzip, gzip, gzip") }
        #expect(error?.code == .decompressionFailed)
        #expect(error?.reason.contains("4 times") == true)
    }

    @Test func `an unknown coding is refused`() {
        let error = #expect(throws: HTTPError.self) { try decompress([], "br") }
        #expect(error?.code == .decompressionFailed)
        #expect(error?.processing == .answered)
        #expect(error?.reason.contains("'br'") == true)
    }
}
