import NIOCore

extension BodySource {
    /// Reads the whole body, piece by piece, in order.
    ///
    /// - Parameters:
    ///   - loop: The event loop to which the feed belongs meanwhile.
    ///   - body: Takes a piece; the next one is asked for when it returns.
    /// - Throws: What the feed fails with, and what `body` throws; ``HTTPError/Code/cancelled`` if the task is cancelled.
    func read(on loop: any EventLoop, _ body: (ByteBuffer) async throws -> Void) async throws {
        let feed = try await loop.submit { NIOLoopBound(try makeFeed(loop), eventLoop: loop) }.get()
        defer { loop.execute { feed.value.close() } }
        while let piece = try await loop.flatSubmit({ feed.value.next() }).get() {
            guard !Task.isCancelled else { throw HTTPError(.cancelled, .neverSent, "the task was cancelled") }
            try await body(piece)
        }
    }
}
