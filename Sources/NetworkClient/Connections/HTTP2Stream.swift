import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// The stream of one exchange on an HTTP/2 connection (RFC 9113, 5); confined to the connection's event loop.
final class HTTP2Stream {
    /// The part of a request that is sent with the next one, so that the last frame ends the stream.
    enum Unsent {
        case head(HPACKHeaders)
        case body(ByteBuffer, EventLoopPromise<Void>?)
    }

    /// Its number; nil until the head of the request is sent.
    var id: HTTP2StreamID?
    /// Whether the head was passed to the channel: before, it may wait until the channel is writable.
    var isOpened = false
    /// The exchange that it carries; nil once that has ended.
    var exchange: (any HTTPExchange)?
    var unsent: Unsent?
    /// The number of the body's bytes that the kernel has not accepted yet.
    private(set) var unwrittenBytes = 0
    /// Whether the request asks for another protocol, whose bytes follow its head (RFC 8441).
    var isTunnel = false
    /// Whether the head of the final response was received.
    var hasHead = false
    /// Whether the end of the response was received.
    var hasEnd = false
    /// The size of the heads so far, as RFC 9113, 6.5.2, counts it.
    var headSize = 0
    /// The number of bytes that the server may still send (RFC 9113, 5.2).
    var window: Int
    /// The number of bytes whose return to the window is under way.
    var returning = 0
    /// Whether the connection has closed it.
    var isClosed = false
    /// Whether the exchange accepts parts of the response.
    var isReading = true
    /// The parts that were received while the exchange did not read.
    private(set) var held: Held?

    /// Parts, and the failure after them.
    struct Held {
        var parts = CircularBuffer<HTTPClientResponsePart>()
        var bytes = 0
        var failure: HTTP2StreamFailure?

        /// The size from which a piece of the body is kept as it is.
        private static let largePiece = 4096

        /// Appends a piece of the body; small ones are joined, since each may keep far more memory than its bytes.
        mutating func append(_ piece: ByteBuffer) {
            bytes += piece.readableBytes
            guard piece.readableBytes < Self.largePiece, case .body(var last)? = parts.last else {
                return parts.append(.body(piece))
            }
            // Otherwise the bytes would be copied again for each piece.
            parts.removeLast()
            last.writeImmutableBuffer(piece)
            parts.append(.body(last))
        }
    }

    init(_ exchange: any HTTPExchange, window: Int) {
        self.exchange = exchange
        self.window = window
    }

    /// Whether the server does not process it after a GOAWAY frame with its last stream.
    func isDropped(after last: HTTP2StreamID) -> Bool {
        guard isOpened, let id else { return true }
        return id > last && !hasEnd
    }

    /// The number of body bytes that were received and not passed to the exchange.
    var heldBytes: Int { held?.bytes ?? 0 }

    /// Whether parts are kept for later, or have to be.
    var holds: Bool { !isReading || held != nil }

    func hold(_ part: HTTPClientResponsePart) {
        var held = held ?? .init()
        self.held = nil
        if case .body(let bytes) = part { held.append(bytes) } else { held.parts.append(part) }
        self.held = held
    }

    func hold(_ failure: HTTP2StreamFailure) {
        var held = held ?? .init()
        held.failure = held.failure ?? failure
        self.held = held
    }

    /// Removes and returns the first part that was kept; nil if there is none.
    func takeHeldPart() -> HTTPClientResponsePart? {
        guard let part = held?.parts.popFirst() else { return nil }
        if case .body(let bytes) = part { held?.bytes -= bytes.readableBytes }
        return part
    }

    /// Removes what was kept, of which no part is left, and returns the failure.
    func takeHeldFailure() -> HTTP2StreamFailure? {
        defer { held = nil }
        return held?.failure
    }

    /// Counts bytes as unwritten until the kernel has accepted them.
    func countUnwritten(_ bytes: Int, until promise: EventLoopPromise<Void>) {
        unwrittenBytes += bytes
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            unwrittenBytes -= bytes
            if unwrittenBytes < HTTP2ClientSettings.maximumUnwrittenBytes { exchange?.connectionIsWritable() }
        }
    }

    /// Fails the promise of a part that is not sent anymore.
    func dropUnsent() {
        guard case .body(_, let promise)? = unsent.take() else { return }
        promise?.fail(ChannelError.ioOnClosedChannel)
    }
}
