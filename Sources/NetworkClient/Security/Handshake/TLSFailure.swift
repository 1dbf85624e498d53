import NIOCore
import NIOSSL

/// Names what a handshake failed with where it was not the server's certificate.
struct TLSFailure {
    let host: String
    /// Whether the server had been accepted: what it refuses then is the client.
    let isServerAccepted: Bool

    /// The error for what NIO, BoringSSL or the kernel said.
    func error(for cause: any Error) -> HTTPError {
        if let error = cause as? HTTPError { return error }
        if let error = cause as? IOError { return lost("the connection was lost", error.errnoCode, cause) }
        guard let stack = Self.stack(of: cause) else { return other(cause) }
        if stack.contains(.eofDuringHandshake) { return lost("\(host) closed the connection", nil, cause) }
        let text = stack.map(\.description).joined(separator: "; ")
        let rows = isServerAccepted ? [Self.refusedClient] + Self.table : Self.table
        let row = rows.first { row in row.marks.contains { text.contains($0) } }
        guard let row else { return failed("\(Self.shortened(text))", cause) }
        return HTTPError(row.code, .neverSent, "TLS with \(host) failed: \(row.reason)", cause: cause)
    }

    /// The error for a server that refuses the client's certificate, or the lack of one, when the handshake is over for
    /// the client, as TLS 1.3 has it; nil for any other cause.
    ///
    /// Such a server has not finished the handshake, so that it has read no request, even if one was sent.
    static func clientRefusal(_ cause: any Error, host: String) -> HTTPError? {
        guard stack(of: cause) != nil else { return nil }
        var error = Self(host: host, isServerAccepted: true).error(for: cause)
        guard error.code == .clientCertificateRefused else { return nil }
        error.processing = .refusedUnprocessed
        return error
    }

    /// What BoringSSL had on its stack of errors.
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
        HTTPError(.connectionLost, .neverSent, "\(what) within the TLS handshake", errno: number, cause: cause)
    }

    private func failed(_ what: String, _ cause: any Error) -> HTTPError {
        HTTPError(.tlsFailed, .neverSent, "TLS with \(host) failed: \(what)", cause: cause)
    }

    /// BoringSSL's words without numbers, file and line.
    private static func shortened(_ text: String) -> String {
        let words = text.components(between: "OPENSSL_internal:", and: " at ")
        return (words.isEmpty ? text : words.joined(separator: ", ")).printable
    }
}
