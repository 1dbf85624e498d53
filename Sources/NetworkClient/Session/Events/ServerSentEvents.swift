import NetworkClientCore

/// The events that a server sends on a stream (HTML Living Standard, 9.2), across reconnections.
///
/// ```swift
/// for try await event in session.events("stream") { print(event.name, event.data) }
/// ```
/// The first iteration connects. When the connection ends or is lost, the sequence connects again after the retry time,
/// three seconds unless the server sets another, and sends the ID of the last event as `Last-Event-ID`. The retry time has
/// a minimum of 100 ms, which doubles up to three seconds while connections end without an event. While there is no path to
/// the server, the request waits for it, and is sent as soon as there is one. It is also sent immediately if an attempt
/// failed while the network was changing.
///
/// The sequence ends when the server responds with 204. It throws an ``HTTPError`` for any other response than 200 with
/// the type `text/event-stream`, and for errors that another attempt cannot change. The body of a response with an error
/// status is received for at most five seconds.
///
/// A connection is read only as fast as the events are. It is closed when the task is cancelled, or when the iterator is
/// released. Each iterator has a connection of its own.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The error that ends the sequence.
    public typealias Failure = HTTPError

    private let request: EventStreamRequest
    /// Waits before a reconnection; tests replace it.
    var pause: EventStreamReader.Pause

    init(_ request: EventStreamRequest) {
        self.request = request
        let core = request.session.core
        pause = { pause in await ReconnectDelay(core, pause).wait() }
    }

    /// Creates an iterator, which connects when its first event is requested.
    public func makeAsyncIterator() -> AsyncIterator { .init(reader: .init(request, pause)) }

    /// An iterator with a connection of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var reader: EventStreamReader

        /// Returns the next event, or nil after the server has responded with 204.
        public mutating func next() async throws(HTTPError) -> ServerSentEvent? {
            try await next(isolation: #isolation)
        }

        /// Returns the next event, or nil after the server has responded with 204.
        ///
        /// - Throws: ``HTTPError``, which ends the sequence; `cancelled` if the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(HTTPError) -> ServerSentEvent? {
            try await reader.next(isolation: actor)
        }
    }
}

extension HTTPSession {
    /// Returns the events that a server sends on a stream.
    ///
    /// The request has `Accept: text/event-stream` and `Cache-Control: no-cache` unless `headers` sets these fields.
    /// These options have a different meaning than for other requests:
    ///
    /// - `gate`: Without one, each connection waits for a path without a limit, even if the session's requests do not.
    /// - `timeouts`: Without them, the session's apply, but there is no limit between two reads of the stream. Set
    ///   ``Timeouts/read`` if the server sends something regularly: a connection on which nothing arrives for that
    ///   long is replaced. `total` is ignored, since a stream has no end.
    /// - `maximumBodySize`: The maximum size of a line, and of the data of an event, in bytes.
    /// - `startsAtOnce`: Ignored; the stream starts with the iteration.
    ///
    /// - Parameters:
    ///   - reference: The URL, or a reference that is resolved against the session's base URL.
    ///   - parameters: The parameters, which become the query.
    ///   - headers: Fields that replace the session's of the same name.
    ///   - lastEventID: The ID of the last event that was processed earlier; empty to start from the beginning.
    ///   - options: The options of each connection's request.
    /// - Returns: The events.
    public func events(
        _ reference: String,
        parameters: Parameters? = nil,
        headers: HTTPFields = [:],
        lastEventID: String = "",
        options: RequestOptions = .init()
    ) -> ServerSentEvents {
        .init(
            EventStreamRequest(
                session: self,
                reference: reference,
                parameters: parameters,
                headers: headers,
                lastEventID: lastEventID,
                options: options
            )
        )
    }
}
