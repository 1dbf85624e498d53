import Glibc
import NIOCore
import NetworkClientCore

/// The error of a failed request.
///
/// `docs/http-errors.md` lists all the failures of the kernel, the resolver, TLS, the server and the response, and the
/// code of each.
public struct HTTPError: Error, Sendable {
    /// The kind of failure.
    public var code: Code
    /// Whether the server may have processed the request.
    public var processing: Processing
    /// The exact cause, and what to do, on one line.
    public var reason: String
    /// The error number, if the kernel reported the failure; see errno(3).
    public var errno: Int32?
    /// The proxy that failed, for example `http://192.0.2.3:3128`: it can't be reached, or refused; nil if the origin
    /// failed.
    public var proxy: String?
    /// The method and the URL without user information and query, for logs.
    public var request: String?
    /// The ``RequestOptions/tag`` of the request; nil if it has none.
    public var tag: String?
    /// The head of the response, if one was received.
    public var response: HTTPResponse?
    /// Whether a captive portal may have sent the response in place of the server; see ``DataResponse/mayBeFromPortal``.
    public internal(set) var mayBeFromPortal = false
    /// The beginning of the response's body, as far as it was received, up to
    /// ``HTTPConfiguration/maximumErrorBodySize``.
    public var body: [UInt8]
    /// The decoded body of a response that was rejected, if a serializer could decode it.
    public var decoded: (any Sendable)?
    /// The underlying error.
    public var cause: (any Error)?
    /// The metrics of the request; an object, so that errors stay small.
    var run: (any AnyObject & Sendable)?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - processing: Whether the server may have processed the request.
    ///   - reason: What exactly was wrong, and what to do, on one line.
    ///   - errno: The error number, if the kernel reported the failure.
    ///   - cause: The underlying error.
    public init(
        _ code: Code,
        processing: Processing,
        reason: String,
        errno: Int32? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.processing = processing
        self.reason = reason
        self.errno = errno
        self.cause = cause
        body = []
    }
}

extension HTTPError: CustomStringConvertible {
    /// The failed request, its tag and the reason, on one line.
    public var description: String {
        let tag = tag.map { "(\($0.debugDescription))" }
        let subject = [request, tag].compactMap(\.self).joined(separator: " ")
        return subject.isEmpty ? reason : "\(subject): \(reason)"
    }
}

extension HTTPError {
    /// The kind of failure; a closed set.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // Before anything was sent.
        /// The text is not a URL, or its scheme is not http or https.
        case invalidURL
        /// The configuration contradicts itself.
        case invalidConfiguration
        /// The parameters or the body can't be encoded.
        case requestSerializationFailed
        /// An interceptor threw an error, or changed what it may not.
        case interceptorFailed
        /// The session was invalidated.
        case sessionInvalidated
        /// The request was cancelled.
        case cancelled
        /// The cache has no response, and the request's policy forbids to load it.
        case notCached

        // The gate.
        /// There was no path to the destination before the timeout for connectivity.
        case connectivityTimedOut
        /// There is no path that meets the request's requirement, and the request does not wait for one.
        case pathNotAllowed
        /// The path was lost during the request.
        case pathLost
        /// The response may be a captive portal's, and the request requires a validated path.
        case pathNotValidated
        /// The host has failed too often recently: its circuit breaker is open.
        case circuitOpen

        // The host's name.
        /// There is no such name (EAI_NONAME).
        case nameNotFound
        /// No name server responds (EAI_AGAIN): the network may be down.
        case nameTemporarilyUnresolvable
        /// The lookup failed for another reason.
        case nameLookupFailed
        /// The lookup timed out.
        case resolveTimedOut

        // The connection.
        /// No server listens on the port (ECONNREFUSED).
        case connectionRefused
        /// There is no route (ENETUNREACH).
        case networkUnreachable
        /// A router reports the host as unreachable, or a neighbour does not respond (EHOSTUNREACH).
        case hostUnreachable
        /// A route or a firewall forbids the connection (EACCES, EPERM).
        case prohibited
        /// A blackhole route discards the packets (EINVAL).
        case blackholed
        /// The source address is gone, or all ports are in use (EADDRNOTAVAIL).
        case addressNotAvailable
        /// The requested interface does not exist.
        case interfaceNotFound
        /// Too many descriptors are open (EMFILE, ENFILE).
        case tooManyDescriptors
        /// Connecting failed for another reason.
        case connectFailed
        /// Connecting timed out.
        case connectTimedOut

        // The proxy.
        /// The proxy refuses connections to this host or port.
        case proxyRefused
        /// The proxy could not connect to the host.
        case proxyConnectFailed
        /// The proxy requires a user name and a password, or rejects those it was given.
        case proxyAuthenticationRequired
        /// The proxy's reply is neither HTTP nor SOCKS.
        case invalidProxyAnswer

        // TLS.
        /// The handshake failed.
        case tlsFailed
        /// The handshake timed out.
        case tlsTimedOut
        /// The certificate does not lead to a trusted root.
        case certificateUntrusted
        /// The certificate has expired.
        case certificateExpired
        /// The certificate is not valid yet: check the clock.
        case certificateNotYetValid
        /// The certificate is for another host.
        case certificateHostMismatch
        /// The chain contains none of the pinned keys or certificates.
        case pinMismatch
        /// The challenge handler refused the server.
        case challengeRefused
        /// The server requires a client certificate, or rejects the one it was shown.
        case clientCertificateRefused

        // During the exchange.
        /// The connection, or the request's stream in HTTP/2, was closed or reset before a response was received.
        case connectionLost
        /// No byte of the response was received in time.
        case firstByteTimedOut
        /// No further byte of the response was received in time.
        case readTimedOut
        /// The server stopped reading the request.
        case writeTimedOut
        /// The request as a whole timed out.
        case requestTimedOut
        /// The connection, or the request's stream in HTTP/2, was closed or reset before the response was complete.
        case bodyTruncated
        /// The response is not valid HTTP, or its connection violates HTTP/2.
        case invalidResponse
        /// The response's head is larger than allowed.
        case headTooLarge
        /// The response's body is larger than allowed.
        case bodyTooLarge
        /// The body can't be decompressed.
        case decompressionFailed

        // Bodies that are not in memory.
        /// The request's body can't be read, or does not have the announced length.
        case bodyUnavailable
        /// The request would have to be sent again, and its body can be read only once.
        case bodyNotReplayable
        /// The response's body can't be stored: a file can't be written.
        case fileFailed

        // Redirects and authentication.
        /// There were more redirects than allowed.
        case tooManyRedirects
        /// A redirect has no usable `Location`.
        case redirectUnusable
        /// A redirect leads from https to http.
        case redirectRefused
        /// The handler that supplies credentials failed, or the server offers only NTLM.
        case authenticationFailed
        /// The token was refused, and refreshing it failed; or the first one could not be obtained.
        case tokenRefreshFailed

        // WebSockets.
        /// The server did not accept the WebSocket, or agreed to what was not offered.
        case webSocketRefused
        /// The server violated the WebSocket protocol, or sent a message that is too large.
        case webSocketFailed
        /// The WebSocket is closed, or the server has closed it because of an error.
        case webSocketClosed

        // The response.
        /// The status is not among the acceptable ones.
        case unacceptableStatus
        /// The body's media type is not among the acceptable ones.
        case unacceptableContentType
        /// The body can't be decoded.
        case responseSerializationFailed
    }
}

extension HTTPError {
    /// The error for a stage that timed out.
    static func timedOut(_ stage: Timeouts.Stage, after limit: Duration?, at host: String) -> Self {
        let time = limit.map { " within \($0)" } ?? " in time"
        return switch stage {
        case .resolve: .init(.resolveTimedOut, processing: .neverSent, reason: "\(host) was not resolved\(time)")
        case .connect: .init(.connectTimedOut, processing: .neverSent, reason: "\(host) was not connected to\(time)")
        case .tls:
            .init(.tlsTimedOut, processing: .neverSent, reason: "\(host) did not finish the TLS handshake\(time)")
        case .firstByte:
            .init(.firstByteTimedOut, processing: .maybeProcessed, reason: "\(host) did not begin to respond\(time)")
        case .read:
            .init(
                .readTimedOut,
                processing: .answered,
                reason: "\(host) stopped within its response: nothing came\(time)"
            )
        case .write:
            .init(
                .writeTimedOut,
                processing: .maybeProcessed,
                reason: "\(host) takes no more of the request: nothing went\(time)"
            )
        case .total: .init(.requestTimedOut, processing: .maybeProcessed, reason: "the request has not ended\(time)")
        }
    }

    /// The error for a response that is larger than allowed.
    ///
    /// - Parameters:
    ///   - limit: The limit in bytes.
    ///   - isKept: Whether the body is kept in memory, and not in a file or stream.
    ///   - announced: The length that the server announced.
    ///   - isCompressed: Whether the limit applies to the decompressed body.
    /// - Returns: The error.
    static func bodyTooLarge(
        _ limit: Int,
        isKept: Bool,
        announced: Int? = nil,
        isCompressed: Bool = false
    ) -> Self {
        let size = announced.map { " (\($0) bytes were announced)" } ?? (isCompressed ? " once decompressed" : "")
        let other = isKept ? "download it to a file, or read it as a stream" : ""
        let raise = limit == ByteBuffer.largest ? "" : "raise maximumBodySize if that is right"
        let advice = [other, raise].filter { !$0.isEmpty }.joined(separator: ", or ")
        let bound = "the \(limit) bytes that maximumBodySize allows\(isKept ? " in memory" : "")"
        return .init(
            .bodyTooLarge,
            processing: .answered,
            reason: "the response's body is larger than \(bound)\(size): \(advice)"
        )
    }

    /// The error for a request that must be sent again, but whose body has been read and can be read only once.
    static func notReplayable(at host: String) -> Self {
        let reason = """
            \(host) wants the request again, and its body can be read only once: give it as bytes, a file \
            or a factory
            """
        return .init(.bodyNotReplayable, processing: .answered, reason: reason)
    }

    /// The error for a request body that can't be read.
    static func unavailableBody(_ cause: any Error, _ processing: Processing) -> Self {
        if var error = cause as? HTTPError {
            if error.processing == .neverSent { error.processing = processing }
            return error
        }
        return .init(
            .bodyUnavailable,
            processing: processing,
            reason: "the request's body can't be read: \(cause)",
            cause: cause
        )
    }

    /// The error for a response body that can't be stored.
    static func bodyWriteFailed(_ cause: any Error) -> Self {
        cause as? HTTPError
            ?? .init(
                .fileFailed,
                processing: .answered,
                reason: "the response's body can't be kept: \(cause)",
                cause: cause
            )
    }

    /// Returns the system's message for an error number.
    static func describe(_ errno: CInt) -> String { "\(String(cString: strerror(errno))), errno \(errno)" }
}

extension ByteBuffer {
    /// The maximum size of a buffer in bytes: the range of its indices.
    static let largest = Int(UInt32.max)
}
