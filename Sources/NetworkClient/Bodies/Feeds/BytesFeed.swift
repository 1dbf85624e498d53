import NIOCore

/// Gives bytes that are in memory, in pieces, so that the whole is never copied at once.
final class BytesFeed: BodyFeed {
    private static let pieceSize = 262_144

    private let bytes: [UInt8]
    private let loop: any EventLoop
    private var start = 0

    init(_ bytes: [UInt8], loop: any EventLoop) {
        self.bytes = bytes
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        guard start < bytes.count else { return loop.makeSucceededFuture(nil) }
        let end = min(bytes.count, start + Self.pieceSize)
        defer { start = end }
        return loop.makeSucceededFuture(ByteBuffer(bytes: bytes[start..<end]))
    }

    func close() {}
}
