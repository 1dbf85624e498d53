import NIOCore

/// A request's body that is not in memory, and how it is read.
struct BodySource: Sendable {
    typealias Check = @Sendable () throws(HTTPError) -> Void

    /// Its length in bytes; nil if that is not known beforehand: it is sent in chunks (RFC 9112, 7.1).
    let length: Int64?
    /// Whether it can be read more than once.
    let isReplayable: Bool
    /// Sees before each attempt, on a thread that may block, whether it can still be sent; nil where nothing can be in
    /// the way.
    let check: Check?
    /// Begins to read it, from its beginning; called on the event loop that the feed will belong to.
    let makeFeed: @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed

    init(
        length: Int64?,
        isReplayable: Bool,
        check: Check? = nil,
        makeFeed: @escaping @Sendable (any EventLoop) throws(HTTPError) -> any BodyFeed
    ) {
        self.length = length
        self.isReplayable = isReplayable
        self.check = check
        self.makeFeed = makeFeed
    }
}

/// Gives a body piece by piece, to one attempt; belongs to the event loop it was made for.
protocol BodyFeed: AnyObject {
    /// The next piece; nil once there is none.
    ///
    /// Asked for only when the last one was given, and the connection can take more. It fails with an ``HTTPError``, or
    /// with what becomes the cause of one.
    func next() -> EventLoopFuture<ByteBuffer?>

    /// Ends the reading: nothing will be asked for any more. Called once, also after the last piece.
    func close()
}
