import NIOCore
import NIOHTTP1

/// Takes the body of one request's answer instead of memory, over all its attempts; belongs to the event loop.
protocol BodyReceiver: AnyObject {
    /// Whether another attempt may follow: nothing was handed out that would come again.
    var canStartAgain: Bool { get }

    /// Whether a pause may close the connection, since the next attempt goes on where this one stopped.
    var continuesByRange: Bool { get }

    /// What has come to be of the body, once it has been kept in a file.
    var file: DownloadedFile? { get }

    /// How much of the body has come over all attempts; nil where each begins again.
    var progress: BodyProgress? { get }

    /// The request begins.
    ///
    /// - Returns: Nil if attempts may begin at once; else they begin when it is fulfilled. If it fails, so does the
    ///   request.
    func open() -> EventLoopFuture<Void>?

    /// An attempt begins: its fields can be added to (`Range`, `Accept-Encoding`).
    func willSend(_ head: inout HTTPRequestHead)

    /// The head of the answer came.
    ///
    /// - Returns: Where the body goes.
    /// - Throws: ``HTTPError``, which ends the attempt.
    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception

    /// The next piece, decompressed.
    ///
    /// - Returns: Nil if more may come at once; else nothing more is read until it is fulfilled. If it fails, so does
    ///   the attempt.
    /// - Throws: ``HTTPError``, which ends the attempt.
    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>?

    /// The body is whole.
    ///
    /// - Returns: Nil if it has been kept; else the request ends when it is fulfilled. If it fails, so does the
    ///   attempt.
    func end() -> EventLoopFuture<Void>?

    /// The attempt is over before the body was whole, or the request, whatever it received; what came may be kept.
    func abandon()

    /// The request has ended: nothing more will be asked for.
    ///
    /// - Returns: Nil if those who wait for the request can be told at once; else they are told when it is fulfilled.
    func close() -> EventLoopFuture<Void>?
}

extension BodyReceiver {
    var file: DownloadedFile? { nil }
    var progress: BodyProgress? { nil }
    func open() -> EventLoopFuture<Void>? { nil }
    func close() -> EventLoopFuture<Void>? { nil }
}

/// Where an answer's body goes.
enum Reception: Sendable {
    /// To the receiver.
    case here
    /// To memory, within its bound, as if there were no receiver: an answer that is none of what was asked for.
    case memory
    /// To memory; the receiver has had all it needs, and is told the end.
    case whole
    /// Nowhere: the request is to be sent again, as the receiver will have it then.
    case again
}
