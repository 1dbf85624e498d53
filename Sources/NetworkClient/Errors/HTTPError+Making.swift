import Glibc
import NIOCore
import NIOHTTP1
import NIOSSL
import NetworkClientCore

extension HTTPError {
    /// A stage took too long.
    static func timedOut(_ stage: Timeouts.Stage, after limit: Duration?, _ request: PreparedRequest) -> Self {
        let time = limit.map { " within \($0)" } ?? " in time"
        let host = request.endpoint.text
        return switch stage {
        case .resolve: .init(.resolveTimedOut, .neverSent, "\(host) was not resolved\(time)")
        case .connect: .init(.connectTimedOut, .neverSent, "\(host) was not connected to\(time)")
        case .tls: .init(.tlsTimedOut, .neverSent, "\(host) did not finish the TLS handshake\(time)")
        case .firstByte: .init(.firstByteTimedOut, .maybeProcessed, "\(host) did not begin to answer\(time)")
        case .read: .init(.readTimedOut, .answered, "\(host) stopped in its answer: nothing came\(time)")
        case .write: .init(.writeTimedOut, .maybeProcessed, "\(host) takes no more of the request: nothing went\(time)")
        case .total: .init(.requestTimedOut, .maybeProcessed, "the request has not ended\(time)")
        }
    }

    /// The connection was lost under a request, or what came on it can't be read.
    static func lost(_ cause: (any Error)?, hasHead: Bool, _ request: PreparedRequest) -> Self {
        let host = request.endpoint.text
        let errno = (cause as? IOError)?.errnoCode
        if let fault = cause as? ResponseFault, fault != .truncated { return unreadable(fault, request) }
        if !hasHead, let cause, let refusal = TLSFailure.clientRefusal(cause, host: host) { return refusal }
        let how = errno.map { "was lost (\(describe($0)))" } ?? "was closed by \(host)"
        if hasHead {
            let reason = "the connection \(how) within the answer"
            return .init(.bodyTruncated, .answered, reason, errno: errno, cause: cause)
        }
        let reason = "the connection \(how) before an answer came"
        return .init(.connectionLost, .maybeProcessed, reason, errno: errno, cause: cause)
    }

    /// An answer's head is larger than allowed.
    private static func headTooLarge(_ limit: Int, _ request: PreparedRequest) -> Self {
        let host = request.endpoint.text
        let reason =
            "the head of \(host)'s answer is larger than \(limit) bytes: raise maximumHeadSize if that is right"
        return .init(.headTooLarge, .answered, reason)
    }

    private static func unreadable(_ fault: ResponseFault, _ request: PreparedRequest) -> Self {
        if case .headTooLarge(let limit) = fault { return headTooLarge(limit, request) }
        let why =
            switch fault {
            case .malformed(let why): why
            case .headTooLarge: "its head is too large"
            case .unsolicited: "it came without a request"
            case .truncated: "it breaks off"
            }
        let reason = "\(request.endpoint.text)'s answer can't be read as HTTP/1.1: \(why)"
        return .init(.invalidResponse, .answered, reason, cause: fault)
    }

    /// An answer is larger than allowed.
    static func bodyTooLarge(_ limit: Int, announced: Int? = nil) -> Self {
        let size = announced.map { " (\($0) bytes were announced)" } ?? ""
        let advice = limit == BodyAssembly.largest ? "take it as a stream or into a file" : "raise maximumBodySize"
        let reason = "the answer's body is larger than \(limit) bytes\(size): \(advice) if that is right"
        return .init(.bodyTooLarge, .answered, reason)
    }

    /// A request would have to be sent again whose body was read, and can be read only once.
    static func notReplayable(_ request: PreparedRequest) -> Self {
        let reason = """
            \(request.endpoint.text) wants the request again, and its body can be read only once: give it as bytes, a file \
            or a factory
            """
        return .init(.bodyNotReplayable, .answered, reason)
    }

    /// A request's body can't be read.
    static func unavailableBody(_ cause: any Error, _ processing: Processing) -> Self {
        if var error = cause as? HTTPError {
            if error.processing == .neverSent { error.processing = processing }
            return error
        }
        return .init(.bodyUnavailable, processing, "the request's body can't be read: \(cause)", cause: cause)
    }

    /// What came can't be kept.
    static func unkeptBody(_ cause: any Error) -> Self {
        cause as? HTTPError
            ?? .init(.fileFailed, .answered, "the answer's body can't be kept: \(cause)", cause: cause)
    }

    /// What the kernel means by an error number.
    static func describe(_ errno: CInt) -> String { "\(String(cString: strerror(errno))), errno \(errno)" }
}
