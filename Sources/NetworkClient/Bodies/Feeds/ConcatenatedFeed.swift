import NIOCore

/// Gives what several feeds give, one after another; each is opened when the one before has ended.
///
/// Unchecked, because it is touched on its event loop only.
final class ConcatenatedFeed: BodyFeed, @unchecked Sendable {
    typealias Opening = @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed

    private let loop: any EventLoop
    private var openings: ArraySlice<Opening>
    private var feed: (any BodyFeed)?

    init(_ openings: [Opening], loop: any EventLoop) {
        self.openings = openings[...]
        self.loop = loop
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        do throws(HTTPError) {
            if feed == nil { try open() }
            guard let feed else { return loop.makeSucceededFuture(nil) }
            return feed.next().assumeIsolated().flatMap { [self] piece in
                guard piece == nil else { return loop.makeSucceededFuture(piece) }
                closeFeed()
                return next()
            }
            .nonisolated()
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func close() {
        openings = []
        closeFeed()
    }

    private func open() throws(HTTPError) {
        guard let open = openings.popFirst() else { return }
        feed = try open(loop)
    }

    private func closeFeed() {
        feed?.close()
        feed = nil
    }
}
