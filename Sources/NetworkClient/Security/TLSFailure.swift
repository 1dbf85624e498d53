import NIOCore
import NIOSSL

/// Converts failures of a handshake other than a rejected server certificate into errors.
struct TLSFailure {
    let host: String
    /// Whether the server was accepted: if it then refuses, it refuses the client.
    let isServerAccepted: Bool

    /// Returns the error for a failure that NIO, BoringSSL or the kernel reported.
    func error(for cause: any Error) -> HTTPError {
        if let error = cause as? HTTPError { return error }
        if let error = cause as? IOError { return lost("the connection was lost", error.errnoCode, cause) }
        guard let stack = Self.stack(of: cause) else { return other(cause) }
        if stack.contains(.eofDuringHandshake) { return lost("\(host) closed the connection", nil, cause) }
        let text = stack.map(\.description).joined(separator: "; ")
        let rows = isServerAccepted ? [Self.refusedClient] + Self.table : Self.table
        let row = rows.first { row in row.marks.contains { text.contains($0) } }
        guard let row else { return failed("\(Self.shortened(text))", cause) }
        return HTTPError(
            row.code,
            processing: .neverSent,
            reason: "TLS with \(host) failed: \(row.reason)",
            cause: cause
        )
    }

    /// Returns the error for a server that refuses the client's certificate, or the lack of one, after the handshake
    /// has ended for the client, as in TLS 1.3; nil for any other cause.
    ///
    /// Such a server has not finished the handshake, so it has processed no request, even if one was sent.
    static func clientRefusal(_ cause: any Error, host: String) -> HTTPError? {
        guard stack(of: cause) != nil else { return nil }
        var error = Self(host: host, isServerAccepted: true).error(for: cause)
        guard error.code == .clientCertificateRefused else { return nil }
        error.processing = .refusedUnprocessed
        return error
    }

    /// Returns BoringSSL's error stack.
    private static func stack(of cause: any Error) -> NIOBoringSSLErrorStack? {
        switch cause {
        case NIOSSLError.handshakeFailed(.sslError(let stack)): stack
        case NIOSSLError.handshakeFailed(.unknownError(let stack)): stack
        case BoringSSLError.sslError(let stack): stack
        case BoringSSLError.unknownError(let stack): stack
        default: nil
        }
    }

    private func other(_ cause: any Error) -> HTTPError {
        switch cause {
        case NIOSSLError.uncleanShutdown, ChannelError.eof, ChannelError.ioOnClosedChannel,
            ChannelError.alreadyClosed, NIOSSLError.handshakeFailed(.syscallError),
            NIOSSLError.handshakeFailed(.zeroReturn):
            lost("\(host) closed the connection", nil, cause)
        default: failed("\(cause)".printable, cause)
        }
    }

    private func lost(_ what: String, _ number: Int32?, _ cause: any Error) -> HTTPError {
        HTTPError(
            .connectionLost,
            processing: .neverSent,
            reason: "\(what) within the TLS handshake",
            errno: number,
            cause: cause
        )
    }

    private func failed(_ what: String, _ cause: any Error) -> HTTPError {
        HTTPError(.tlsFailed, processing: .neverSent, reason: "TLS with \(host) failed: \(what)", cause: cause)
    }

    /// Returns BoringSSL's messages without numbers, files and lines.
    private static func shortened(_ text: String) -> String {
        let words = text.components(between: "OPENSSL_internal:", and: " at ")
        return (words.isEmpty ? text : words.joined(separator: ", ")).printable
    }
}

extension TLSFailure {
    /// The meaning of BoringSSL's messages.
    struct Row: Sendable {
        let marks: [String]
        let code: HTTPError.Code
        let reason: String
    }

    /// The alert of a TLS 1.2 server to a client without a certificate.
    ///
    /// It has this meaning only after the server has presented its own certificate; before, the same alert means that
    /// there is no common cipher suite.
    static let refusedClient = Row(
        marks: ["ALERT_HANDSHAKE_FAILURE"],
        code: .clientCertificateRefused,
        reason: "the server wants a client certificate, or another one: see TLSOptions.clientIdentity"
    )

    /// The messages in `CNIOBoringSSL_ssl.h` and `err_data`; the first matching row is used.
    static let table = [
        Row(
            marks: ["CERTIFICATE_REQUIRED", "ALERT_NO_CERTIFICATE"],
            code: .clientCertificateRefused,
            reason: "the server wants a client certificate: give the session a client identity"
        ),
        Row(
            marks: [
                "ALERT_BAD_CERTIFICATE", "ALERT_UNSUPPORTED_CERTIFICATE", "ALERT_CERTIFICATE_REVOKED",
                "ALERT_CERTIFICATE_EXPIRED", "ALERT_CERTIFICATE_UNKNOWN", "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
                "ALERT_DECRYPT_ERROR",
            ],
            code: .clientCertificateRefused,
            reason: "the server does not accept the client certificate, or the lack of one"
        ),
        Row(
            marks: ["HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "WRONG_VERSION_NUMBER"],
            code: .tlsFailed,
            reason: "the server responds in plain text: is it http, or another port?"
        ),
        Row(
            marks: ["ALERT_PROTOCOL_VERSION", "UNSUPPORTED_PROTOCOL"],
            code: .tlsFailed,
            reason: "the server speaks no version of TLS that is allowed: see TLSOptions.minimumVersion"
        ),
        Row(
            marks: ["ALERT_HANDSHAKE_FAILURE", "ALERT_INSUFFICIENT_SECURITY"],
            code: .tlsFailed,
            reason: "the server refuses the handshake: there is no cipher in common"
        ),
        Row(
            marks: ["UNRECOGNIZED_NAME"],
            code: .tlsFailed,
            reason: "the server knows no host of that name"
        ),
        Row(
            marks: ["NO_APPLICATION_PROTOCOL"],
            code: .tlsFailed,
            reason: "the server does not speak HTTP/1.1"
        ),
    ]
}

extension String {
    /// Returns the parts between each start mark and the next end mark.
    func components(between start: String, and end: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let from = rest.firstRange(of: start) {
            rest = rest[from.upperBound...]
            parts.append(String(rest[..<(rest.firstRange(of: end)?.lowerBound ?? rest.endIndex)]))
        }
        return parts
    }
}
