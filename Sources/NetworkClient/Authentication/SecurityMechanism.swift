import FoundationEssentials
import NIOHTTP1
import NetworkClientCore

/// A mechanism by which a user and a server authenticate each other with tokens (GSSAPI, RFC 2743), for the scheme
/// Negotiate (RFC 4559).
package protocol SecurityMechanism: Sendable {
    /// The origins, as URLs, whose challenges it responds to.
    var origins: [String] { get }
    /// Whether it responds to the challenges of proxies.
    var includesProxies: Bool { get }
    /// Whether a response fails that does not prove the identity of the server, unless its status is an error.
    var requiresMutualAuthentication: Bool { get }

    /// Creates the client's side of an exchange of tokens with the web server or proxy on a host.
    func makeContext(for host: String) -> any SecurityContext
}

/// The client's side of one exchange of tokens.
package protocol SecurityContext: Sendable {
    /// Processes a token of the server; called off the event loop, and never twice at the same time.
    ///
    /// - Parameter token: The server's token; nil to begin.
    /// - Returns: The client's next token, and whether the exchange is complete.
    /// - Throws: The reason why the exchange fails, which is shown to the user.
    func step(_ token: [UInt8]?) async throws -> SecurityStep
}

/// A step of an exchange of tokens.
package struct SecurityStep: Sendable, Hashable {
    /// The token for the server; nil for none.
    package var token: [UInt8]?
    /// Whether the client needs no further token: it has verified the server, if that was requested.
    package var isComplete: Bool

    /// Creates a step.
    package init(token: [UInt8]?, isComplete: Bool) {
        self.token = token
        self.isComplete = isComplete
    }
}

/// The scheme Negotiate in header fields (RFC 4559, 4).
enum NegotiateField {
    /// The maximum number of tokens that a client sends in one exchange; Kerberos needs one or two.
    static let maximumTokens = 8

    /// Returns the challenge among the values of a field; nil if there is none.
    static func challenge(in values: [String]) -> AuthenticationChallenge? {
        ChallengeParser.challenges(in: values).first { $0.scheme == "negotiate" }
    }

    /// Returns the token of a challenge; nil if it has none, or one that is not Base64.
    static func token(of challenge: AuthenticationChallenge?) -> [UInt8]? {
        guard let text = challenge?.token68, !text.isEmpty else { return nil }
        return Data(base64Encoded: text).map { Array($0) }
    }

    /// Returns whether a request has a token for its origin.
    static func isIn(_ head: HTTPRequestHead) -> Bool {
        head.headers.first(name: "Authorization")?.hasPrefix("Negotiate ") == true
    }

    /// Returns the value of `Authorization` or `Proxy-Authorization` with a token.
    static func value(_ token: [UInt8]) -> String { "Negotiate \(Data(token).base64EncodedString())" }
}

extension HTTPError {
    /// Creates the error of a request or connection for which no token could be obtained.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - peer: The server or proxy.
    ///   - processing: Whether the server may have processed the request.
    ///   - cause: The error of the mechanism.
    /// - Returns: The error.
    static func negotiationFailed(
        _ code: Code,
        _ peer: String,
        _ processing: Processing,
        _ cause: any Error
    ) -> Self {
        let reason = "\(peer) requires authentication by Negotiate, which failed: \("\(cause)".printable(upTo: 1_000))"
        return .init(code, processing: processing, reason: reason, cause: cause)
    }
}
