import RequestGate

extension HTTPError.Code {
    /// Whether another attempt may end better.
    ///
    /// What the kernel says of routes is for the moment: a modem is plugged in again, a VPN comes back. What a server
    /// says of itself, as by its certificate or by an answer that can't be read, it will say again.
    var failureKind: AttemptFailure.Kind {
        switch self {
        case .invalidURL, .invalidConfiguration, .requestSerializationFailed, .sessionInvalidated, .cancelled,
            .requestTimedOut, .nameNotFound:
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
