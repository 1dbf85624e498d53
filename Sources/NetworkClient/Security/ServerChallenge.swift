/// A server that has shown its certificates and waits for the verdict, within the handshake.
public struct ServerChallenge: Sendable {
    /// What a handler says of a server.
    public enum Verdict: Sendable {
        /// The server is accepted, whatever the policy says.
        case accept
        /// The server is refused for this reason, whatever the policy says; the request fails with
        /// ``HTTPError/Code/challengeRefused``, and this error is its cause.
        case refuse(any Error)
        /// The policy decides.
        case usePolicy
    }

    /// The host that was asked for: a name in its ASCII form, or an address.
    public var host: String
    /// The certificates as the server presented them, its own first, in DER.
    ///
    /// Nothing is proven of them but that the server holds the key of the first.
    public var presentedChain: [[UInt8]]
    /// Why the policy would refuse the server; nil where it would accept it.
    public var policyRefusal: HTTPError?
}

/// Has the last word on a server; called once per handshake, on no particular executor.
///
/// No byte of a request and no client certificate leaves before it has answered. The handshake's time runs on meanwhile:
/// when it is up, or the request is cancelled, the handler's task is cancelled, and nobody waits for its answer.
public typealias ChallengeHandler = @Sendable (ServerChallenge) async -> ServerChallenge.Verdict
