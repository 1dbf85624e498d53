import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

struct MessageInflaterTests {
    /// A final block without data.
    private static let finalBlock: [UInt8] = [0x03, 0x00]
    /// 32 KiB, not compressed, which fill the window.
    private static let data = [0x00, 0x00, 0x80, 0xFF, 0x7F] + [UInt8](repeating: 7, count: 32_768)

    private static func blocks(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in finalBlock } }

    @Test func `a message may have many final blocks`() throws {
        let inflater = try #require(MessageInflater(WebSocketCompression.Agreement()))
        for _ in 0..<3 {
            var count = 0
            try inflater.inflate(ByteBuffer(bytes: Self.data + Self.blocks(900) + [0x00])) { count += $0.count }
            try inflater.finish { count += $0.count }
            #expect(count == 32_768)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a message of nothing but final blocks is rejected`() throws {
        let inflater = try #require(MessageInflater(WebSocketCompression.Agreement()))
        let message = ByteBuffer(bytes: Self.data + Self.blocks(1 << 19))
        #expect(throws: WebSocketFault.self) { try inflater.inflate(message) { _ in } }
    }
}
