/// How far the bodies of a request and its answer have come.
public struct RequestProgress: Sendable, Hashable {
    /// Bytes of the request's body that were handed to the connection in the present attempt.
    public var sent = 0
    /// The length of the request's body; nil if it is not known.
    public var toSend: Int64?
    /// Bytes of the answer's body that have come in the present attempt, compressed or not.
    public var received = 0
    /// The length of the answer's body; nil if the server did not say it.
    public var toReceive: Int?

    /// Takes what an event tells; whether it told anything.
    mutating func take(_ event: RequestEvent) -> Bool {
        switch event {
        case .attempt:
            self = .init()
            return false
        case .sending(let bytes, let length): (sent, toSend) = (bytes, length)
        case .received(let bytes, let length): (received, toReceive) = (bytes, length)
        default: return false
        }
        return true
    }
}

extension RequestHandle {
    /// How far it has come, each time that changes, from now on until it ends; a slow reader misses some, never the last.
    public var progress: RequestProgressSequence { .init(events: events) }
}

/// The progress of one request.
public struct RequestProgressSequence: AsyncSequence, Sendable {
    /// How far it has come.
    public typealias Element = RequestProgress
    /// It does not fail: how the request ended is for ``RequestHandle/response()`` to tell.
    public typealias Failure = Never

    let events: AsyncStream<RequestEvent>

    /// Begins to follow.
    public func makeAsyncIterator() -> AsyncIterator { .init(events: events.makeAsyncIterator()) }

    /// Follows the progress of one request.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: AsyncStream<RequestEvent>.Iterator
        private var progress = RequestProgress()

        init(events: AsyncStream<RequestEvent>.Iterator) { self.events = events }

        /// The next; nil when the request has ended.
        public mutating func next() async -> RequestProgress? { await next(isolation: #isolation) }

        /// The next; nil when the request has ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RequestProgress? {
            while let event = await events.next(isolation: actor) {
                if progress.take(event) { return progress }
            }
            return nil
        }
    }
}
