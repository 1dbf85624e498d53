import NIOCore
import NIOPosix

@testable import NetworkClient

/// A feed that is read like a connection does.
final class OpenedFeed: Sendable {
    private let feed: NIOLoopBound<any BodyFeed>
    private let loop: any EventLoop

    init(_ source: BodySource) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.loop = loop
        if let check = source.check { try await NIOThreadPool.singleton.runIfActive { try check() } }
        feed = try await loop.submit { NIOLoopBound(try source.makeFeed(loop), eventLoop: loop) }.get()
    }

    func next() async throws -> [UInt8]? {
        try await loop.flatSubmit { [feed] in feed.value.next() }.get().map { Array($0.readableBytesView) }
    }

    /// Requests the next piece; returns once it was requested.
    func ask() async throws -> EventLoopFuture<ByteBuffer?> {
        try await loop.submit { [feed] in feed.value.next() }.get()
    }

    func close() async throws {
        try await loop.submit { [feed] in feed.value.close() }.get()
    }

    /// Returns all pieces of a source; its feed is closed in any case.
    static func pieces(of source: BodySource) async throws -> [[UInt8]] {
        let feed = try await OpenedFeed(source)
        var pieces: [[UInt8]] = []
        do {
            while let piece = try await feed.next() { pieces.append(piece) }
        } catch {
            try await feed.close()
            throw error
        }
        try await feed.close()
        return pieces
    }
}
