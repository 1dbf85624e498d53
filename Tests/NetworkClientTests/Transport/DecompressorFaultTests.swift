import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Compressed bodies that can't be decoded.
struct DecompressorFaultTests {
    private static let text = Array((0..<60).map { "line \($0 * $0)\n" }.joined().utf8)

    @Test func `a stream that ends too early is an error, wherever it ends`() throws {
        for wrapping in Wrapping.allCases {
            let whole = compressed(Self.text, wrapping)
            for count in 1..<whole.count {
                let error = #expect(throws: HTTPError.self) { try decompress(Array(whole.prefix(count)), "deflate") }
                #expect(error?.code == .decompressionFailed)
                #expect(error?.processing == .answered)
            }
        }
    }

    @Test func `a wrong byte is detected, or changes nothing`() throws {
        // What a checksum does not cover (time, system) may be wrong; a wrong member's beginning ends the data.
        let whole = compressed(Self.text) + compressed(Self.text, level: 1)
        for position in whole.indices {
            for change: UInt8 in [0x01, 0x10, 0x80, 0xFF] {
                var bytes = whole
                bytes[position] ^= change
                guard let output = try? decompress(bytes, "gzip", splits: [position]) else { continue }
                #expect(output == Self.text + Self.text || output == Self.text, "byte \(position) ^ \(change)")
            }
        }
    }

    @Test(arguments: [.zlib, .bare] as [Wrapping])
    func `no wrong byte crashes the decoder`(wrapping: Wrapping) throws {
        let whole = compressed(Self.text, wrapping)
        var failures = 0
        for position in whole.indices {
            for change: UInt8 in [0x01, 0x08, 0x3C, 0x80, 0xFF] {
                var bytes = whole
                bytes[position] ^= change
                do { _ = try decompress(bytes, "deflate", limit: 1 << 20) } catch { failures += 1 }
            }
        }
        #expect(failures > 0)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `random bytes do not crash the decoder`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let noise = (0..<Int.random(in: 1...400, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            for head in [[], [0x1F, 0x8B, 0x08], [0x78, 0x9C]] as [[UInt8]] {
                for coding in ["gzip", "deflate"] { _ = try? decompress(head + noise, coding, limit: 1 << 20) }
            }
        }
    }

    @Test func `the output may reach the limit and not exceed it`() throws {
        let body = compressed(Self.text)
        #expect(try decompress(body, "gzip", limit: Self.text.count) == Self.text)
        for limit in [0, 1, Self.text.count - 1] {
            let error = #expect(throws: HTTPError.self) { try decompress(body, "gzip", limit: limit) }
            #expect(error?.code == .bodyTooLarge)
            #expect(error?.processing == .answered)
            #expect(error?.reason.contains("\(limit) bytes") == true)
        }
        #expect(try decompress(compressed([]), "gzip", limit: 0) == [])
    }

    @Test func `a decompression bomb is stopped at the limit`() throws {
        let bomb = compressed([UInt8](repeating: 0, count: 16 << 20))
        let twofold = compressed(bomb)
        for (body, codings) in [(bomb, ["gzip"]), (twofold, ["gzip", "gzip"])] {
            let decompressor = try #require(try Decompressor(contentEncoding: codings, limit: 100_000))
            var count = 0
            let error = #expect(throws: HTTPError.self) {
                try decompressor.decompress(ByteBuffer(bytes: body)) { count += $0.readableBytes }
            }
            #expect(error?.code == .bodyTooLarge)
            #expect(count <= 100_000)
        }
    }

    @Test func `the output between two codings is limited too`() throws {
        // 400 kB of empty members, which output nothing.
        let members = [UInt8]([[UInt8]](repeating: compressed([]), count: 20_000).joined())
        let error = #expect(throws: HTTPError.self) { try decompress(compressed(members), "gzip, gzip", limit: 1000) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func `an abandoned body leaves no memory`() throws {
        let before = LabHeap.bytesInUse
        let half = Array(compressed(Self.text).dropLast(20))
        for _ in 0..<12_000 {
            let decompressor = try Decompressor(contentEncoding: ["gzip"], limit: nil)
            try decompressor?.decompress(ByteBuffer(bytes: half)) { _ in }
        }
        // A stream takes 7 KiB, 40 with its window: 12,000 that stayed would be 480 MiB; other tests run concurrently.
        #expect(LabHeap.bytesInUse - before < 200 << 20)
    }
}
