import CommandLineSupport
import Glibc
import NetwatchCore
import NetworkClient

/// The exit codes of `netwatch fetch`, which are curl's (libcurl-errors(3)); `docs/fetch.md` tabulates them.
enum CurlCode: Int32, CaseIterable {
    /// `CURLE_UNSUPPORTED_PROTOCOL`.
    case unsupportedScheme = 1
    /// `CURLE_FAILED_INIT`.
    case badConfiguration = 2
    /// `CURLE_URL_MALFORMAT`.
    case badURL = 3
    /// `CURLE_COULDNT_RESOLVE_PROXY`.
    case proxyNotResolved = 5
    /// `CURLE_COULDNT_RESOLVE_HOST`.
    case notResolved = 6
    /// `CURLE_COULDNT_CONNECT`.
    case notConnected = 7
    /// `CURLE_WEIRD_SERVER_REPLY`.
    case weirdReply = 8
    /// `CURLE_PARTIAL_FILE`.
    case partialBody = 18
    /// `CURLE_HTTP_RETURNED_ERROR`.
    case refusedStatus = 22
    /// `CURLE_WRITE_ERROR`.
    case writeError = 23
    /// `CURLE_READ_ERROR`.
    case readError = 26
    /// `CURLE_OPERATION_TIMEDOUT`.
    case timedOut = 28
    /// `CURLE_SSL_CONNECT_ERROR`.
    case handshakeFailed = 35
    /// `CURLE_ABORTED_BY_CALLBACK`.
    case cancelled = 42
    /// `CURLE_BAD_FUNCTION_ARGUMENT`.
    case unwritableParameters = 43
    /// `CURLE_INTERFACE_FAILED`.
    case interfaceFailed = 45
    /// `CURLE_TOO_MANY_REDIRECTS`.
    case tooManyRedirects = 47
    /// `CURLE_GOT_NOTHING`.
    case gotNothing = 52
    /// `CURLE_SEND_ERROR`.
    case sendError = 55
    /// `CURLE_RECV_ERROR`.
    case receiveError = 56
    /// `CURLE_SSL_CERTPROBLEM`.
    case clientCertificate = 58
    /// `CURLE_PEER_FAILED_VERIFICATION`.
    case untrusted = 60
    /// `CURLE_BAD_CONTENT_ENCODING`.
    case badEncoding = 61
    /// `CURLE_FILESIZE_EXCEEDED`.
    case bodyTooLarge = 63
    /// `CURLE_SEND_FAIL_REWIND`.
    case notRewound = 65
    /// `EX_TEMPFAIL` of sysexits(3), like the tool's other commands that wait; curl no longer uses this code.
    case connectivityTimedOut = 75
    /// `CURLE_SSL_CACERT_BADFILE`.
    case badRootFile = 77
    /// `CURLE_SSL_PINNEDPUBKEYNOTMATCH`.
    case pinnedKeyMismatch = 90
    /// `CURLE_AUTH_ERROR`.
    case authenticationFailed = 94
    /// `CURLE_PROXY`.
    case socksFailed = 97
    /// `CURLE_TOO_LARGE`.
    case headTooLarge = 100
}

extension CurlCode {
    /// The code for what a request failed with.
    init(_ error: HTTPError) {
        self =
            switch error.code {
            case .connectionLost: Self.loss(error)
            case .nameNotFound, .nameTemporarilyUnresolvable, .nameLookupFailed:
                error.proxy == nil ? .notResolved : .proxyNotResolved
            case .proxyRefused, .proxyConnectFailed, .proxyAuthenticationRequired, .invalidProxyAnswer:
                error.isOfSOCKS ? .socksFailed : .receiveError
            case let code: Self(code)
            }
    }

    /// Returns the code for a connection that was lost before a response: during the handshake, without any byte, or
    /// with an error of the kernel.
    private static func loss(_ error: HTTPError) -> Self {
        if error.proxy != nil { return error.isOfSOCKS ? .socksFailed : .receiveError }
        if error.processing == .neverSent { return .handshakeFailed }
        return switch error.errno {
        case nil: .gotNothing
        case EPIPE: .sendError
        default: .receiveError
        }
    }

    private init(_ code: HTTPError.Code) {
        self =
            switch code {
            case .invalidURL: .badURL
            case .invalidConfiguration, .interceptorFailed, .sessionInvalidated: .badConfiguration
            case .requestSerializationFailed: .unwritableParameters
            case .cancelled: .cancelled
            case .nameNotFound, .nameTemporarilyUnresolvable, .nameLookupFailed: .notResolved
            case .resolveTimedOut, .connectTimedOut, .tlsTimedOut, .firstByteTimedOut, .readTimedOut, .writeTimedOut,
                .requestTimedOut:
                .timedOut
            case .connectivityTimedOut: .connectivityTimedOut
            case .connectionRefused, .pathNotAllowed, .pathNotValidated, .circuitOpen, .notCached, .networkUnreachable,
                .hostUnreachable, .prohibited, .blackholed, .tooManyDescriptors, .connectFailed:
                .notConnected
            case .addressNotAvailable, .interfaceNotFound: .interfaceFailed
            case .tlsFailed: .handshakeFailed
            case .certificateUntrusted, .certificateExpired, .certificateNotYetValid, .certificateHostMismatch,
                .challengeRefused:
                .untrusted
            case .pinMismatch: .pinnedKeyMismatch
            case .clientCertificateRefused: .clientCertificate
            case .connectionLost: .gotNothing
            case .pathLost, .proxyRefused, .proxyConnectFailed, .proxyAuthenticationRequired, .invalidProxyAnswer:
                .receiveError
            case .bodyTruncated: .partialBody
            case .invalidResponse, .unacceptableContentType, .responseSerializationFailed, .webSocketRefused,
                .webSocketFailed, .webSocketClosed:
                .weirdReply
            case .headTooLarge: .headTooLarge
            case .bodyTooLarge: .bodyTooLarge
            case .decompressionFailed: .badEncoding
            case .bodyUnavailable: .readError
            case .bodyNotReplayable: .notRewound
            case .fileFailed: .writeError
            case .tooManyRedirects: .tooManyRedirects
            case .redirectUnusable: .badURL
            case .redirectRefused: .unsupportedScheme
            case .authenticationFailed, .tokenRefreshFailed: .authenticationFailed
            case .unacceptableStatus: .refusedStatus
            }
    }
}

extension HTTPError {
    /// Whether it was caused by a SOCKS proxy.
    fileprivate var isOfSOCKS: Bool { proxy?.hasPrefix("socks") == true }
}

extension ToolError {
    /// An error of `netwatch fetch`.
    init(_ message: String, curl code: CurlCode) { self.init(message, exit: .init(rawValue: code.rawValue)) }
}

extension HTTPError {
    /// The error for the user: which request failed, why, and which option helps.
    var fetchError: ToolError {
        let line = (request.map { "\($0): " } ?? "") + (ownWords ?? reason) + (advice.map { "; \($0)" } ?? "")
        return .init(line.escapedForTerminal, curl: CurlCode(self))
    }

    /// The reason in place of one that refers to the library's API.
    private var ownWords: String? {
        switch code {
        case .bodyTooLarge: "the response's body is larger than allowed"
        case .clientCertificateRefused: "the server does not accept the client certificate, or the lack of one"
        // The session's property that helps follows the colon.
        default: reason.firstRange(of: ": see TLSOptions.").map { String(reason[..<$0.lowerBound]) }
        }
    }

    private var advice: String? {
        switch code {
        case .bodyTooLarge: "give a larger --max-size"
        case .clientCertificateRefused: "give another one with --cert"
        case .certificateUntrusted: "--cacert FILE trusts another root"
        case .requestTimedOut: "give a longer --max-time"
        case .connectivityTimedOut: "give a longer --wait"
        case .tooManyRedirects: "--max-redirs allows more"
        case .pathNotAllowed: "--wait DURATION waits for one"
        case .resolveTimedOut, .connectTimedOut, .tlsTimedOut: "--connect-timeout allows more"
        default: nil
        }
    }
}
