import HTTPTypes
import NetworkClientCore
import RequestGate

extension AttemptFailure {
    /// What an error means for another attempt.
    ///
    /// - Parameters:
    ///   - error: how the attempt ended; of an unacceptable status, the status counts.
    ///   - isPathLost: whether a fresh lookup says that there is no path to the destination now. A name that is not
    ///     found is then to be looked up again when there is one.
    init(_ error: HTTPError, isPathLost: Bool = false) {
        if error.code == .unacceptableStatus, let head = error.response {
            self.init(head)
            return
        }
        let kind = error.code.failureKind
        let waits = isPathLost && (kind != .permanent || error.code == .nameNotFound)
        self.init(waits ? .pathLost : kind, error.processing)
    }

    /// What an answer's status means for another attempt, with what it says of when.
    init(_ head: HTTPResponse) {
        let status = head.status.code
        let retryAfter = head.headerFields[.retryAfter].flatMap {
            RetryAfter.duration($0, date: head.headerFields[.date])
        }
        self.init(.status(status), Processing(status: status), retryAfter: retryAfter)
    }
}

extension Processing {
    /// What an answer's status says: by 421 (RFC 9110, 15.5.20) and 425 (RFC 8470, 5.2), that nothing was done.
    init(status: Int) { self = status == 421 || status == 425 ? .refusedUnprocessed : .answered }
}

extension HTTPError.Code {
    /// Whether another attempt may end better.
    ///
    /// What the kernel says of routes is for the moment: a modem is plugged in again, a VPN comes back. What a server
    /// says of itself, as by its certificate or by an answer that can't be read, it will say again.
    var failureKind: AttemptFailure.Kind {
        switch self {
        case .invalidURL, .invalidConfiguration, .requestSerializationFailed, .interceptorFailed, .sessionInvalidated,
            .cancelled, .requestTimedOut, .nameNotFound:
            .permanent
        case .tlsFailed, .certificateUntrusted, .certificateExpired, .certificateNotYetValid, .certificateHostMismatch,
            .pinMismatch, .challengeRefused, .clientCertificateRefused:
            .permanent
        case .invalidResponse, .headTooLarge, .bodyTooLarge, .decompressionFailed, .unacceptableStatus,
            .unacceptableContentType, .responseSerializationFailed, .bodyUnavailable, .bodyNotReplayable, .fileFailed:
            .permanent
        case .tooManyRedirects, .redirectCycle, .redirectUnusable, .redirectRefused, .authenticationFailed,
            .tokenRefreshFailed:
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
            .connectionLost, .bodyTruncated, .pathLost, .proxyConnectFailed:
            .transient
        }
    }
}
