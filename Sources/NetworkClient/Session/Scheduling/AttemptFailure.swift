import HTTPTypes
import NetworkClientCore
import RequestGate

extension AttemptFailure {
    /// Classifies an error for the retry policy.
    ///
    /// - Parameters:
    ///   - error: The error of the attempt; for an unacceptable status, the response decides.
    ///   - isPathLost: Whether a new lookup has found no path to the destination. A name that was not found is then
    ///     looked up again when there is a path.
    init(_ error: HTTPError, isPathLost: Bool = false) {
        if error.code == .unacceptableStatus, let head = error.response {
            self.init(head)
            return
        }
        let kind = error.code.failureKind
        let waits = isPathLost && (kind != .permanent || error.code == .nameNotFound)
        self.init(waits ? .pathLost : kind, error.processing)
    }

    /// Classifies a response for the retry policy, by its status and its Retry-After field.
    init(_ head: HTTPResponse) {
        let status = head.status.code
        let retryAfter = head.headerFields[.retryAfter].flatMap {
            RetryAfter.duration($0, date: head.headerFields[.date])
        }
        self.init(.status(status), Processing(status: status), retryAfter: retryAfter)
    }
}

extension Processing {
    /// Creates the value for the status of a response: 421 (RFC 9110, 15.5.20) and 425 (RFC 8470, 5.2) mean that the
    /// request was not processed.
    init(status: Int) { self = status == 421 || status == 425 ? .refusedUnprocessed : .answered }
}

extension HTTPError.Code {
    /// The kind of failure, which decides whether another attempt may succeed.
    ///
    /// The kernel's errors about routes are transient: a modem is plugged in again, a VPN reconnects. A server's own
    /// errors, such as an invalid certificate or response, are permanent.
    var failureKind: AttemptFailure.Kind {
        switch self {
        case .invalidURL, .invalidConfiguration, .requestSerializationFailed, .interceptorFailed, .sessionInvalidated,
            .cancelled, .notCached, .requestTimedOut, .nameNotFound:
            .permanent
        case .tlsFailed, .certificateUntrusted, .certificateExpired, .certificateNotYetValid, .certificateHostMismatch,
            .pinMismatch, .challengeRefused, .clientCertificateRefused:
            .permanent
        case .invalidResponse, .headTooLarge, .bodyTooLarge, .decompressionFailed, .unacceptableStatus,
            .unacceptableContentType, .responseSerializationFailed, .bodyUnavailable, .bodyNotReplayable, .fileFailed:
            .permanent
        case .tooManyRedirects, .redirectUnusable, .redirectRefused, .authenticationFailed,
            .tokenRefreshFailed, .webSocketRefused, .webSocketFailed, .webSocketClosed:
            .permanent
        case .connectivityTimedOut, .pathNotAllowed, .circuitOpen:
            .permanent
        case .proxyRefused, .proxyAuthenticationRequired, .invalidProxyAnswer:
            .permanent
        case .resolveTimedOut, .connectTimedOut, .tlsTimedOut, .firstByteTimedOut, .readTimedOut, .writeTimedOut:
            .timeout
        case .connectionRefused:
            .refused
        case .nameTemporarilyUnresolvable, .nameLookupFailed, .networkUnreachable, .hostUnreachable, .prohibited,
            .blackholed, .addressNotAvailable, .interfaceNotFound, .tooManyDescriptors, .connectFailed,
            .connectionLost, .bodyTruncated, .pathLost, .pathNotValidated, .proxyConnectFailed:
            .transient
        }
    }
}

extension HTTPError {
    /// Whether the error ends the request without a decision of the retry policy or the interceptors.
    var isFinal: Bool {
        switch code {
        case .cancelled, .requestTimedOut, .connectivityTimedOut, .pathNotAllowed, .circuitOpen, .bodyUnavailable,
            .bodyNotReplayable, .fileFailed:
            true
        default: false
        }
    }

    /// Whether the path may be the cause, so that it has to be looked up again.
    var mayBeCausedByPath: Bool {
        switch code {
        case .networkUnreachable, .hostUnreachable, .addressNotAvailable, .interfaceNotFound, .prohibited, .blackholed,
            .connectFailed, .connectTimedOut, .tlsTimedOut, .resolveTimedOut, .nameTemporarilyUnresolvable,
            .nameLookupFailed, .nameNotFound, .connectionLost, .bodyTruncated, .firstByteTimedOut, .readTimedOut,
            .writeTimedOut, .pathLost, .pathNotValidated:
            true
        default: false
        }
    }
}
