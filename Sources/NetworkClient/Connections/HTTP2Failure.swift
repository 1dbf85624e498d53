import NIOCore
import NIOHTTP2
import NetworkClientCore

/// The reason why one stream of an HTTP/2 connection failed.
enum HTTP2StreamFailure {
    /// The server reset it (RFC 9113, 6.4).
    case reset(HTTP2Code)
    /// The server ended the connection before it processed the request (RFC 9113, 6.8).
    case unprocessed(HTTP2GoAway?)
    /// The connection has no number left for the stream (RFC 9113, 5.1.1).
    case unnumbered
    /// The response is malformed (RFC 9113, 8.1.1).
    case malformed(String)
    /// The head of the response, or its trailers, are larger than the limit.
    case headTooLarge(Int)
    /// The request can't be sent.
    case unsendable(any Error)
    /// The connection was lost.
    case lost((any Error)?)
    /// The connection was closed because of the server's or the client's GOAWAY frame.
    case ended(HTTP2GoAway)
    /// The server violated the protocol, and the connection was closed.
    case violated(any Error)

    /// Whether the server has not processed the request, unless it has sent the head of a response.
    var isUnprocessed: Bool {
        switch self {
        case .unprocessed, .unnumbered, .reset(.refusedStream), .reset(.http11Required): true
        default: false
        }
    }
}

/// The end of a connection as a GOAWAY frame announces it.
struct HTTP2GoAway {
    let code: HTTP2Code
    /// The text for people that it contains.
    let text: String

    init(_ code: HTTP2Code, _ data: ByteBuffer?) {
        self.code = code
        text = data.map { String(decoding: $0.readableBytesView.prefix(200), as: UTF8.self).printable } ?? ""
    }

    /// Its code and text for messages.
    var description: String { text.isEmpty ? code.name : "\(code.name): \(text)" }
}

extension HTTP2StreamFailure {
    /// Returns the error for the request of the stream.
    ///
    /// - Parameters:
    ///   - hasHead: Whether the head of the response was received.
    ///   - isUpgraded: Whether the stream carries another protocol since.
    ///   - host: The server.
    /// - Returns: The error.
    func error(hasHead: Bool, isUpgraded: Bool = false, at host: String) -> HTTPError {
        switch self {
        case .reset(let code) where isUpgraded:
            return .init(.connectionLost, processing: .answered, reason: "\(host) reset the stream (\(code.name))")
        case .ended(let end) where isUpgraded:
            let reason = "\(host) closed the connection (GOAWAY with \(end.description))"
            return .init(.connectionLost, processing: .answered, reason: reason)
        case .lost(let cause): return .lost(cause, hasHead: hasHead, at: host)
        case .reset(let code) where isUnprocessed && !hasHead:
            return Self.refused("\(host) refused the request before processing it (\(code.name))")
        case .reset(let code):
            return Self.broken("\(host) reset the stream of the request (\(code.name))", hasHead)
        case .unprocessed(let end):
            let why = end.map { " (GOAWAY with \($0.description))" } ?? ""
            return Self.refused("\(host) closed the connection before it processed the request\(why)")
        case .unnumbered:
            return Self.refused("the connection to \(host) has used all stream numbers before the request was sent")
        case .ended(let end):
            return Self.broken("\(host) closed the connection (GOAWAY with \(end.description))", hasHead)
        case .malformed(let why): return Self.invalid("the response from \(host) is malformed: \(why)", .answered)
        case .headTooLarge(let limit): return .headTooLarge(limit, at: host)
        case .unsendable(let cause):
            let reason = "the request can't be sent over HTTP/2: \(HTTP2Violation.text(of: cause))"
            return .init(.requestSerializationFailed, processing: .neverSent, reason: reason, cause: cause)
        case .violated(let cause): return Self.violated(cause, hasHead ? .answered : .maybeProcessed, at: host)
        }
    }

    private static func violated(_ cause: any Error, _ processing: Processing, at host: String) -> HTTPError {
        if cause is NIOHTTP2Errors.ExcessivelyLargeHeaderBlock {
            let reason = "\(host) sent a larger head than maximumHeadSize allows, and the connection was closed"
            return .init(.headTooLarge, processing: processing, reason: reason, cause: cause)
        }
        let reason = "\(host) violated HTTP/2, and the connection was closed: \(HTTP2Violation.text(of: cause))"
        return invalid(reason, processing, cause)
    }

    private static func refused(_ reason: String) -> HTTPError {
        .init(.connectionLost, processing: .refusedUnprocessed, reason: reason)
    }

    private static func broken(_ reason: String, _ hasHead: Bool) -> HTTPError {
        hasHead
            ? .init(.bodyTruncated, processing: .answered, reason: "\(reason) within the response")
            : .init(.connectionLost, processing: .maybeProcessed, reason: "\(reason) before a response came")
    }

    private static func invalid(_ reason: String, _ processing: Processing, _ cause: (any Error)? = nil) -> HTTPError {
        .init(.invalidResponse, processing: processing, reason: reason, cause: cause)
    }
}

/// An error code of RFC 9113, 7; the name is ambiguous without its module.
typealias HTTP2Code = NIOHTTP2.HTTP2ErrorCode

extension HTTP2Code {
    /// The name in RFC 9113, 7, or the number of an unknown code.
    var name: String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        return names.indices.contains(networkCode) ? names[networkCode] : "error \(networkCode)"
    }
}

/// The texts for violations of HTTP/2, which the library reports as types.
enum HTTP2Violation {
    /// Returns what the server did wrong.
    static func text(of error: any Error) -> String { frameText(of: error) ?? fieldText(of: error) ?? "\(error)" }

    /// Returns whether an error is one of a response, after which the others continue.
    static func concernsStream(_ error: any Error) -> Bool { fieldText(of: error) != nil }

    private static func frameText(of error: any Error) -> String? {
        switch error {
        case is NIOHTTP2Errors.MissingPreface: "its first frame is not SETTINGS"
        case is NIOHTTP2Errors.UnableToParseFrame: "it sent what is no valid frame, or can't be decompressed"
        case is NIOHTTP2Errors.FlowControlViolation: "it sent more than the flow control allows"
        case is NIOHTTP2Errors.InvalidWindowIncrementSize: "it changed a flow-control window by 0 or too much"
        case is NIOHTTP2Errors.InvalidFlowControlWindowSize: "it made a flow-control window larger than 2^31-1 bytes"
        case is NIOHTTP2Errors.InvalidSetting, is NIOHTTP2Errors.ReceivedBadSettings: "it sent invalid settings"
        case is NIOHTTP2Errors.NoSuchStream, is NIOHTTP2Errors.StreamClosed:
            "it sent a frame for a stream that is not open"
        case is NIOHTTP2Errors.BadStreamStateTransition: "it sent a frame that the state of the stream does not allow"
        case is NIOHTTP2Errors.MaxStreamsViolation, is NIOHTTP2Errors.PushInViolationOfSetting:
            "it pushed a response, which is off"
        case is NIOHTTP2Errors.InvalidStreamIDForPeer, is NIOHTTP2Errors.StreamIDTooSmall:
            "it used a stream number that it may not use"
        case is NIOHTTP2Errors.RaisedGoawayLastStreamID: "it raised the last stream of its GOAWAY frame"
        case is NIOHTTP2Errors.PriorityCycle: "it made a stream depend on itself"
        case is NIOHTTP2Errors.ExcessiveRSTFrames: "it sent too many RST_STREAM frames"
        case is NIOHTTP2Errors.ExcessiveControlFrames: "it sent too many PING, SETTINGS or PRIORITY frames"
        case is NIOHTTP2Errors.ExcessiveContinuationFrames: "it sent too many CONTINUATION frames"
        case is NIOHTTP2Errors.ExcessiveEmptyDataFrames: "it sent too many empty DATA frames"
        case is NIOHTTP2Errors.ExcessiveStreamErrors, is NIOHTTP2Errors.ExcessiveNumberOfGlitches:
            "it sent too many malformed responses"
        case is NIOHTTP2Errors.ExcessiveOutboundFrameBuffering: "it does not read the frames that it has to"
        default: nil
        }
    }

    private static func fieldText(of error: any Error) -> String? {
        switch error {
        case let error as NIOHTTP2Errors.StreamError: text(of: error.baseError)
        case is NIOHTTP2Errors.TrailersWithoutEndStream: "its trailers do not end the stream"
        case is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader: "a pseudo-header field follows other fields"
        case is NIOHTTP2Errors.UnknownPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.UnsupportedPseudoHeader:
            "its pseudo-header fields are not those of a response"
        case is NIOHTTP2Errors.DuplicatePseudoHeader: "a pseudo-header field appears twice"
        case is NIOHTTP2Errors.MissingPseudoHeader: "it has no :status"
        case is NIOHTTP2Errors.InvalidStatusValue: "its status is not a three-digit number"
        case is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName: "a field has no valid name in lower case"
        case is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue, is NIOHTTP2Errors.InvalidPseudoHeaderValue:
            "a field has a control character"
        case is NIOHTTP2Errors.ForbiddenHeaderField: "a field concerns HTTP/1.1 connections"
        case is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue:
            "its length is not its Content-Length"
        default: nil
        }
    }
}
