import NIOCore
import NIOPosix

/// Gives a file, with one piece read ahead; see ``FileReader``.
///
/// Unchecked, because it is touched on its event loop only.
final class FileFeed: BodyFeed, @unchecked Sendable {
    private let loop: any EventLoop
    private var reader: FileReader?
    private var ahead: EventLoopFuture<ByteBuffer?>?

    /// Opens nothing until it is asked.
    init(_ path: String, length: Int64, loop: any EventLoop) {
        self.loop = loop
        reader = FileReader(path, length: length)
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        let piece = ahead ?? read()
        ahead = nil
        piece.assumeIsolated().whenSuccess { [self] piece in
            // Whoever asked is told after this: the reading goes on while he sends.
            if piece != nil, reader != nil { ahead = read() }
        }
        return piece
    }

    func close() {
        // The descriptor goes with the reader, which a read that is under way still holds.
        reader = nil
        ahead = nil
    }

    private func read() -> EventLoopFuture<ByteBuffer?> {
        guard let reader else { return loop.makeSucceededFuture(nil) }
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) { try reader.read() }
    }
}
