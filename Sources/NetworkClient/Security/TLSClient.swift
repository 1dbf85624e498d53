import Locking
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// Makes the TLS handlers of a session's connections; the context is created once.
struct TLSClient: Sendable {
    private let contexts: TLSContexts
    private let policies: HostPolicies
    private let roots: TrustRoots
    private let namedRoots: [Certificate]
    private let challengeHandler: ChallengeHandler?

    /// Makes a client that offers the given application protocols (RFC 7301).
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    init(_ options: TLSOptions, protocols: [String] = ["http/1.1"]) throws(HTTPError) {
        policies = try HostPolicies(options)
        roots = options.roots
        namedRoots = options.roots.certificates.compactMap { try? Certificate(derEncoded: $0) }
        challengeHandler = options.challengeHandler
        contexts = try TLSContexts(Self.configuration(options, protocols))
    }

    /// Whether a challenge handler makes the final decision on servers.
    var hasChallengeHandler: Bool { challengeHandler != nil }

    /// Makes a handler for one connection, and the object in which it stores the reason for refusing the server.
    ///
    /// The host is a name in its ASCII form, or an address, which is not sent to the server (RFC 6066, section 3). The
    /// request is the one that a challenge names. With `offersHTTP2`, the server may select HTTP/2.
    func makeHandler(
        host: String,
        for request: OpeningRequest = .unknown,
        offersHTTP2: Bool = false
    ) throws(HTTPError) -> (handler: NIOSSLClientHandler, verdict: TLSVerdict) {
        let name = ServerName(host)
        let verdict = TLSVerdict()
        let verification = HandshakeVerification(evaluator: evaluator(for: name, request), verdict: verdict)
        do {
            let context = try contexts.context(offersHTTP2: offersHTTP2)
            let handler = try NIOSSLClientHandler(context: context, serverHostname: name.hostName) { chain, promise in
                verification.start(chain, promise)
            }
            return (handler, verdict)
        } catch {
            let reason = "\"\(host.printable)\" can't be the name of a TLS server"
            throw HTTPError(.invalidURL, processing: .neverSent, reason: reason, cause: error)
        }
    }

    private func evaluator(for name: ServerName, _ request: OpeningRequest) -> ServerEvaluator {
        ServerEvaluator(
            name: name,
            request: request,
            policy: policies.policy(for: name),
            roots: roots,
            namedRoots: namedRoots,
            challengeHandler: challengeHandler
        )
    }

    /// The configuration for BoringSSL, without roots, since this client verifies the certificates itself.
    private static func configuration(_ options: TLSOptions, _ protocols: [String]) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.minimumTLSVersion = options.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.applicationProtocols = protocols
        options.clientIdentity?.apply(to: &configuration)
        return configuration
    }
}

/// The contexts of BoringSSL for connections that offer HTTP/2, and for those that don't; made when they are needed.
private final class TLSContexts: Sendable {
    private let configuration: TLSConfiguration
    /// The contexts by whether they offer HTTP/2.
    private let contexts: Lock<[Bool: NIOSSLContext]>

    /// Makes the context without HTTP/2.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the configuration can't be used.
    init(_ configuration: TLSConfiguration) throws(HTTPError) {
        self.configuration = configuration
        do {
            contexts = .init([false: try Self.makeContext(configuration, offersHTTP2: false)])
        } catch {
            throw .badCertificate("TLS can't be set up: \(String(describing: error).printable)", cause: error)
        }
    }

    func context(offersHTTP2: Bool) throws -> NIOSSLContext {
        if let context = contexts.withLock({ $0[offersHTTP2] }) { return context }
        let context = try Self.makeContext(configuration, offersHTTP2: offersHTTP2)
        contexts.withLock { $0[offersHTTP2] = context }
        return context
    }

    private static func makeContext(_ configuration: TLSConfiguration, offersHTTP2: Bool) throws -> NIOSSLContext {
        var configuration = configuration
        if offersHTTP2 { configuration.applicationProtocols.insert("h2", at: 0) }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The request for which a connection is opened.
struct OpeningRequest: Sendable {
    /// Its number.
    let id: UInt64
    /// Its method and URL, without user information and query.
    let description: String

    /// The request for connections whose server no challenge handler evaluates: those to proxies, and those without TLS.
    static let unknown = Self(id: 0, description: "")
}

/// The result of evaluating a connection's server; set before the handshake fails.
///
/// Can be used from any thread.
final class TLSVerdict: Sendable {
    private enum State {
        case pending
        case accepted
        case refused(HTTPError)
    }

    private let state = Lock(State.pending)

    /// The reason why the server was refused, if it was.
    var refusal: HTTPError? {
        guard case .refused(let error) = state.withLock({ $0 }) else { return nil }
        return error
    }

    /// Stores the result: the reason why the server is refused, or nil.
    func keep(_ refusal: HTTPError?) { state.withLock { $0 = refusal.map(State.refused) ?? .accepted } }

    /// Returns the error to report when the handshake failed: the refusal, if there is one, or the error of the
    /// handshake.
    ///
    /// With TLS 1.3, a server can refuse a client certificate, or the lack of one, only after the handshake has ended
    /// for the client: the connection's error can be passed here too.
    func error(for cause: any Error, host: String) -> HTTPError {
        switch state.withLock({ $0 }) {
        case .refused(let error): error
        case .accepted: TLSFailure(host: host, isServerAccepted: true).error(for: cause)
        case .pending: TLSFailure(host: host, isServerAccepted: false).error(for: cause)
        }
    }
}

/// Evaluates a server with the policy and the challenge handler, whose decision is final.
struct ServerEvaluator: Sendable {
    let name: ServerName
    let request: OpeningRequest
    let policy: PreparedPolicy
    let roots: TrustRoots
    let namedRoots: [Certificate]
    let challengeHandler: ChallengeHandler?

    /// Returns the reason why the server is refused; nil if it is accepted.
    func refusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let refusal = await policyRefusal(of: encoded)
        guard let challengeHandler else { return refusal }
        let challenge = ServerChallenge(
            host: name.text,
            requestID: request.id,
            request: request.description,
            presentedChain: encoded,
            policyRefusal: refusal
        )
        switch await challengeHandler(challenge) {
        case .accept: return nil
        case .usePolicy: return refusal
        case .refuse(let error):
            let reason = "the challenge handler refused \(name.text): \(String(describing: error).printable)"
            return HTTPError(.challengeRefused, processing: .neverSent, reason: reason, cause: error)
        }
    }

    private func policyRefusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let chain = PresentedChain(encoded)
        guard roots.includesSystem, policy.needsRoots else {
            return await evaluation(of: chain, Anchors(namedRoots)).refusal()
        }
        switch SystemRoots.shared {
        case .success(let store): return await evaluation(of: chain, Anchors(namedRoots, additionalTo: store)).refusal()
        case .failure(let error):
            let refusal = await evaluation(of: chain, Anchors(namedRoots)).refusal()
            return refusal?.code == .certificateUntrusted ? error : refusal
        }
    }

    private func evaluation(of chain: PresentedChain, _ anchors: Anchors) -> TrustEvaluation {
        TrustEvaluation(policy, roots: anchors, chain: chain, name: name)
    }
}

extension PreparedPolicy {
    /// Whether the evaluation can depend on the trusted roots.
    fileprivate var needsRoots: Bool { policy.mode != .none || !policy.allowsInvalidCertificates }
}

/// The evaluation of a server in progress; it ends with the connection's handler at the latest.
///
/// Only the handler retains it, and releases it when the connection is closed: an evaluation that is still running, for
/// example in a slow challenge handler, is then cancelled, and retains nothing of the connection.
final class HandshakeVerification: Sendable {
    private let evaluator: ServerEvaluator
    private let verdict: TLSVerdict
    private let outcome = HandshakeOutcome()
    private let task = Lock<Task<Void, Never>?>(nil)

    init(evaluator: ServerEvaluator, verdict: TLSVerdict) {
        self.evaluator = evaluator
        self.verdict = verdict
    }

    deinit {
        task.withLock { $0 }?.cancel()
        outcome.settle(.failed)
    }

    /// Starts to evaluate a server by its chain, off the event loop.
    func start(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        outcome.await(with: promise)
        let encoded = chain.map { (try? $0.toDERBytes()) ?? [] }
        let finding = Task { [evaluator, verdict, outcome] in
            let refusal = await evaluator.refusal(of: encoded)
            verdict.keep(refusal)
            outcome.settle(refusal == nil ? .certificateVerified : .failed)
        }
        task.withLock { $0 = finding }
    }
}

/// Completes a handshake's promise exactly once.
private final class HandshakeOutcome: Sendable {
    private let promise = Lock<EventLoopPromise<NIOSSLVerificationResult>?>(nil)

    func await(with promise: EventLoopPromise<NIOSSLVerificationResult>) {
        self.promise.withLock { $0 = promise }
    }

    func settle(_ result: NIOSSLVerificationResult) {
        promise.withLock { promise in promise.take() }?.succeed(result)
    }
}
