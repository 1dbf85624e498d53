import NIOCore
import NIOHTTP1

/// Receives the response body of one request, across all its attempts, instead of memory; confined to the event loop.
protocol BodyReceiver: AnyObject {
    /// Whether another attempt may follow: nothing was handed out that would be received twice.
    var canStartAgain: Bool { get }

    /// Whether a pause may close the connection, because the next attempt continues where this one stopped.
    var continuesByRange: Bool { get }

    /// The file that the body was written to, once it is complete.
    var file: DownloadedFile? { get }

    /// How much of the body has been received across all attempts; nil if each attempt starts from the beginning.
    var progress: BodyProgress? { get }

    /// The request begins.
    ///
    /// - Returns: Nil if attempts may begin immediately; otherwise a future after which they begin. If it fails, so
    ///   does the request.
    func open() -> EventLoopFuture<Void>?

    /// An attempt begins: adds fields to its head (`Range`, `Accept-Encoding`).
    func willSend(_ head: inout HTTPRequestHead)

    /// Handles the head of the response.
    ///
    /// - Returns: Where the body is delivered.
    /// - Throws: ``HTTPError``, which ends the attempt.
    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception

    /// Receives the next piece of the body, decompressed.
    ///
    /// - Returns: Nil if the next piece may follow immediately; otherwise a future before which nothing more is read.
    ///   If it fails, so does the attempt.
    /// - Throws: ``HTTPError``, which ends the attempt.
    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>?

    /// The body is complete.
    ///
    /// - Returns: Nil if it has been stored; otherwise a future after which the request ends. If it fails, so does the
    ///   attempt.
    func end() -> EventLoopFuture<Void>?

    /// The attempt or the request ended before the body was complete; what was received may be kept.
    func abandon()

    /// The request has ended: no other method is called after this one.
    ///
    /// - Returns: Nil if the request can be reported as finished immediately; otherwise a future after which it is.
    func close() -> EventLoopFuture<Void>?
}

extension BodyReceiver {
    var file: DownloadedFile? { nil }
    var progress: BodyProgress? { nil }
    func open() -> EventLoopFuture<Void>? { nil }
    func close() -> EventLoopFuture<Void>? { nil }

    /// Receives a response whose body is already complete.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - body: The whole body.
    /// - Returns: Nil if the request may end immediately; otherwise a future after which it ends. If it fails, so does the
    ///   request.
    /// - Throws: ``HTTPError``, which ends the request.
    func receive(_ head: HTTPResponseHead, _ body: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        switch try begin(head) {
        case .memory, .again: return nil
        case .whole: return end()
        case .here:
            guard let received = try receive(body) else { return end() }
            return received.assumeIsolated().flatMap { [self] _ in
                end() ?? received.eventLoop.makeSucceededVoidFuture()
            }.nonisolated()
        }
    }
}

/// The destination of a response body.
enum Reception: Sendable {
    /// The receiver.
    case here
    /// Memory, up to its limit, as if there were no receiver: the response is not the one that the receiver wants.
    case memory
    /// Memory; the receiver already has everything that it needs, and only gets the end.
    case whole
    /// None: the request is sent again, with the fields that the receiver then sets.
    case again
}
