import NIOCore
import NIOHTTP1
import NIOSSL
import NetworkClientCore

/// Receives the parts of responses that a channel reads.
///
/// Confined to the channel's event loop.
protocol ResponseReceiver: AnyObject {
    /// Receives the next part.
    func receive(_ part: HTTPClientResponsePart)
}

/// Decodes the bytes that a channel reads into the parts of responses.
///
/// Unlike NIO's own decoder, it reports whether a byte of a response has been received, and accepts valid syntax that
/// NIO's decoder rejects: folded lines, whitespace after values, transfer codings.
final class ResponseDecoder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    /// Receives the parts, without the channel's boxes for them; nil once the decoder has left its channel.
    var receiver: (any ResponseReceiver)?
    private var parser: ResponseParser
    /// Whether input is being processed: handling its parts may bring further input, or the channel's end.
    private var isReading = false
    private var waiting: [ByteBuffer] = []
    private var isInactive = false
    private var hasFailed = false
    /// Whether a response has changed the protocol: what follows it is not HTTP, and is kept in ``waiting``.
    private var hasSwitched = false

    init(maximumHeadSize: Int) { parser = .init(maximumHeadSize: maximumHeadSize) }

    /// Whether a byte of the pending response has been received.
    var hasBegun: Bool { parser.hasBegun }

    /// Expects the response to a request, whose head is about to be sent.
    func expectResponse(to request: HTTPRequestHead) { parser.expectResponse(to: request.method.rawValue) }

    func handlerRemoved(context: ChannelHandlerContext) { receiver = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        guard !isReading, !hasSwitched else { return waiting.append(bytes) }
        isReading = true
        read(bytes, context)
        while !waiting.isEmpty, !hasSwitched { read(waiting.removeFirst(), context) }
        isReading = false
        if isInactive { end(context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isInactive = true
        if !isReading { end(context) }
    }

    /// Passes on the parts of responses that are complete with these bytes.
    private func read(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        var bytes = bytes
        while !hasFailed, !hasSwitched, let receiver {
            let parsed = bytes.withUnsafeReadableBytes { input in
                Result { () throws(ResponseFault) in try parser.next(input) }
            }
            switch parsed {
            case .failure(let fault): fail(fault, context)
            case .success((_, nil)): return
            case .success((let consumed, .body(let count)?)):
                // The last of the consumed bytes are the piece of the body.
                bytes.moveReaderIndex(forwardBy: consumed - count)
                guard let piece = bytes.readSlice(length: count) else { return }
                receiver.receive(.body(piece))
            case .success((let consumed, .head(let head)?)):
                bytes.moveReaderIndex(forwardBy: consumed)
                if head.status == 101 { beginSwitch(&bytes) }
                receiver.receive(.head(.init(head)))
            case .success((let consumed, .end?)):
                bytes.moveReaderIndex(forwardBy: consumed)
                receiver.receive(.end(nil))
            }
        }
    }

    /// Keeps the bytes after a response that changes the protocol.
    private func beginSwitch(_ rest: inout ByteBuffer) {
        hasSwitched = true
        if rest.readableBytes > 0 { waiting.insert(rest, at: 0) }
        rest.clear()
    }

    /// Leaves the pipeline after a response that changes the protocol.
    ///
    /// - Returns: Forwards the bytes after the response, and the channel's end if it came meanwhile.
    func leave(_ pipeline: ChannelPipeline.SynchronousOperations) throws -> () -> Void {
        let context = try pipeline.context(handler: self)
        return { [self] in
            for bytes in waiting { context.fireChannelRead(NIOAny(bytes)) }
            waiting = []
            context.fireChannelReadComplete()
            if isInactive { context.fireChannelInactive() }
            pipeline.removeHandler(context: context, promise: nil)
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard !hasSwitched else { return }
        do throws(ResponseFault) {
            if !hasFailed, try parser.finish() != nil { receiver?.receive(.end(nil)) }
        } catch {
            fail(error, context)
        }
        context.fireChannelInactive()
    }

    private func fail(_ fault: ResponseFault, _ context: ChannelHandlerContext) {
        hasFailed = true
        context.fireErrorCaught(fault)
    }
}

extension HTTPResponseHead {
    fileprivate init(_ head: ResponseHead) {
        self.init(
            version: .init(major: 1, minor: head.minorVersion),
            status: .init(statusCode: head.status),
            headers: .init(head.fields)
        )
    }
}

extension HTTPError {
    /// The error for a connection that was lost during a request, or whose bytes can't be parsed.
    static func lost(_ cause: (any Error)?, hasHead: Bool, at host: String) -> Self {
        let errno = (cause as? IOError)?.errnoCode
        if let fault = cause as? ResponseFault, fault != .truncated { return fault.error(at: host) }
        if !hasHead, let cause, let refusal = TLSFailure.clientRefusal(cause, host: host) { return refusal }
        let how = errno.map { "was lost (\(describe($0)))" } ?? "was closed by \(host)"
        if hasHead {
            let reason = "the connection \(how) within the response"
            return .init(.bodyTruncated, processing: .answered, reason: reason, errno: errno, cause: cause)
        }
        let reason = "the connection \(how) before a response came"
        return .init(.connectionLost, processing: .maybeProcessed, reason: reason, errno: errno, cause: cause)
    }

    /// The error for a response whose head is too large.
    static func headTooLarge(_ limit: Int, at host: String) -> Self {
        let reason =
            "the head of the response from \(host) is larger than \(limit) bytes: raise maximumHeadSize if that is right"
        return .init(.headTooLarge, processing: .answered, reason: reason)
    }
}

extension ResponseFault {
    /// Returns the error for a response that can't be parsed.
    fileprivate func error(at host: String) -> HTTPError {
        let why: String
        switch self {
        case .headTooLarge(let limit): return .headTooLarge(limit, at: host)
        case .malformed(let text): why = text
        case .unsolicited: why = "it came without a request"
        case .truncated: why = "it breaks off"
        }
        let reason = "the response from \(host) can't be read as HTTP/1.1: \(why)"
        return .init(.invalidResponse, processing: .answered, reason: reason, cause: self)
    }
}
