import Glibc
import NIOCore
import NetworkClientCore

/// Why a request has failed.
///
/// `docs/http-errors.md` has the table of all the ways in which the kernel, the resolver, TLS, the server or the answer
/// can fail, and what each becomes.
public struct HTTPError: Error, Sendable {
    /// What went wrong.
    public var code: Code
    /// How far the request may have come.
    public var processing: Processing
    /// What exactly was wrong, and what to do, in a line.
    public var reason: String
    /// The kernel's error number, where it was the kernel that refused; see errno(3).
    public var errno: Int32?
    /// The proxy that it is about, as in `http://192.0.2.3:3128`: what can't be reached, or says no; nil for the
    /// origin.
    public var proxy: String?
    /// The method and the URL without user information and query, for logs.
    public var request: String?
    /// The answer's head, if one came.
    public var response: HTTPResponse?
    /// The beginning of the answer's body, as far as it came and was kept.
    public var body: [UInt8]
    /// What the body says, where a serializer could decode it all the same.
    public var decoded: (any Sendable)?
    /// What the error was made from.
    public var cause: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code,
        _ processing: Processing,
        _ reason: String,
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
    /// Which request failed and why, in a line.
    public var description: String { request.map { "\($0): \(reason)" } ?? reason }
}

extension HTTPError {
    /// What went wrong, in one word; a closed set.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // Before anything was sent.
        /// The text is no URL, or none that can be asked.
        case invalidURL
        /// The configuration contradicts itself.
        case invalidConfiguration
        /// The parameters or the body can't be written.
        case requestSerializationFailed
        /// An interceptor threw an error, or changed what it may not.
        case interceptorFailed
        /// The session was invalidated.
        case sessionInvalidated
        /// The request was cancelled.
        case cancelled

        // The gate.
        /// There was no path to the destination for as long as the request was to wait.
        case connectivityTimedOut
        /// There is no path that meets the request's requirement, and it was not to wait.
        case pathNotAllowed
        /// The path went away under the request.
        case pathLost
        /// The host has failed too often of late, and is given a rest.
        case circuitOpen

        // The host's name.
        /// There is no such name (EAI_NONAME).
        case nameNotFound
        /// No name server answers (EAI_AGAIN): the network may be away.
        case nameTemporarilyUnresolvable
        /// The lookup failed in another way.
        case nameLookupFailed
        /// The lookup took too long.
        case resolveTimedOut

        // The connection.
        /// Nobody listens there (ECONNREFUSED).
        case connectionRefused
        /// There is no route (ENETUNREACH).
        case networkUnreachable
        /// A router or a dead neighbour says no (EHOSTUNREACH).
        case hostUnreachable
        /// A route or a firewall forbids it (EACCES, EPERM).
        case prohibited
        /// A blackhole route swallows it (EINVAL).
        case blackholed
        /// The source address is gone, or all ports are in use (EADDRNOTAVAIL).
        case addressNotAvailable
        /// The interface that was asked for does not exist.
        case interfaceNotFound
        /// Too many descriptors are open (EMFILE, ENFILE).
        case tooManyDescriptors
        /// Connecting failed in another way.
        case connectFailed
        /// Connecting took too long.
        case connectTimedOut

        // The proxy.
        /// The proxy does not connect to such a host or port.
        case proxyRefused
        /// The proxy could not connect to the host.
        case proxyConnectFailed
        /// The proxy wants a user name and a password, or others.
        case proxyAuthenticationRequired
        /// What the proxy says is neither HTTP nor SOCKS.
        case invalidProxyAnswer

        // TLS.
        /// The handshake failed.
        case tlsFailed
        /// The handshake took too long.
        case tlsTimedOut
        /// No trusted root stands behind the certificate.
        case certificateUntrusted
        /// The certificate is out of date.
        case certificateExpired
        /// The certificate is not valid yet: look at the clock.
        case certificateNotYetValid
        /// The certificate is another host's.
        case certificateHostMismatch
        /// None of the pins is in the chain.
        case pinMismatch
        /// The challenge handler refused the server.
        case challengeRefused
        /// The server wants a client certificate, or another one.
        case clientCertificateRefused

        // On the way.
        /// The connection was closed or reset before an answer came.
        case connectionLost
        /// No byte of the answer came in time.
        case firstByteTimedOut
        /// The answer stopped for too long.
        case readTimedOut
        /// The server takes no more of the request.
        case writeTimedOut
        /// The request as a whole took too long.
        case requestTimedOut
        /// The connection was closed or reset within the answer.
        case bodyTruncated
        /// What came is not HTTP/1.1.
        case invalidResponse
        /// The answer's head is larger than allowed.
        case headTooLarge
        /// The answer's body is larger than allowed.
        case bodyTooLarge
        /// The body can't be decompressed.
        case decompressionFailed

        // Bodies that are not in memory.
        /// The request's body can't be read, or is not as long as was said.
        case bodyUnavailable
        /// The request would have to be sent again, and its body can be read only once.
        case bodyNotReplayable
        /// What came can't be kept: a file can't be written.
        case fileFailed

        // Where the answer leads.
        /// There were more redirects than allowed.
        case tooManyRedirects
        /// A redirect leads to where the request has been before.
        case redirectCycle
        /// A redirect does not say where, or not by a URL that can be asked.
        case redirectUnusable
        /// A redirect leads from https to http.
        case redirectRefused
        /// The handler that knows credentials has failed.
        case authenticationFailed
        /// No new token could be got for one that was refused.
        case tokenRefreshFailed

        // The answer.
        /// The status is none of those expected.
        case unacceptableStatus
        /// The body is of another type than those expected.
        case unacceptableContentType
        /// The body can't be decoded.
        case responseSerializationFailed
    }
}

extension HTTPError {
    /// A stage took too long.
    static func timedOut(_ stage: Timeouts.Stage, after limit: Duration?, at host: String) -> Self {
        let time = limit.map { " within \($0)" } ?? " in time"
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

    /// An answer is larger than allowed.
    static func bodyTooLarge(_ limit: Int, announced: Int? = nil) -> Self {
        let size = announced.map { " (\($0) bytes were announced)" } ?? ""
        let advice = limit == ByteBuffer.largest ? "take it as a stream or into a file" : "raise maximumBodySize"
        let reason = "the answer's body is larger than \(limit) bytes\(size): \(advice) if that is right"
        return .init(.bodyTooLarge, .answered, reason)
    }

    /// A request would have to be sent again whose body was read, and can be read only once.
    static func notReplayable(at host: String) -> Self {
        let reason = """
            \(host) wants the request again, and its body can be read only once: give it as bytes, a file \
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
    static func bodyWriteFailed(_ cause: any Error) -> Self {
        cause as? HTTPError
            ?? .init(.fileFailed, .answered, "the answer's body can't be kept: \(cause)", cause: cause)
    }

    /// What the kernel means by an error number.
    static func describe(_ errno: CInt) -> String { "\(String(cString: strerror(errno))), errno \(errno)" }
}

extension ByteBuffer {
    /// How large a buffer can become, in bytes: what its indices reach.
    static let largest = Int(UInt32.max)
}
