extension TLSFailure {
    /// What BoringSSL's words mean.
    struct Row: Sendable {
        let marks: [String]
        let code: HTTPError.Code
        let reason: String
    }

    /// What a server says in TLS 1.2 to a client that has shown no certificate.
    ///
    /// Only then: before the server has shown its own, the same word means that there is no cipher in common.
    static let refusedClient = Row(
        marks: ["ALERT_HANDSHAKE_FAILURE"],
        code: .clientCertificateRefused,
        reason: "the server wants a client certificate, or another one: see TLSOptions.clientIdentity"
    )

    /// The words as `CNIOBoringSSL_ssl.h` and `err_data` have them; the first row that fits counts.
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
            reason: "the server answers in plain text: is it http, or another port?"
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
    /// The parts between one mark and the next other.
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
