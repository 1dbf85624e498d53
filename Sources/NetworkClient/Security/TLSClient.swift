import Locking
import NIOCore
import NIOSSL
import SwiftASN1
import X509

/// Makes the TLS handlers of a session's connections; contexts are made once.
struct TLSClient: Sendable {
    private let context: NIOSSLContext
    private let policies: HostPolicies
    private let roots: TrustRoots
    private let namedRoots: [Certificate]
    private let challengeHandler: ChallengeHandler?

    /// Throws ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    init(_ options: TLSOptions) throws(HTTPError) {
        policies = try HostPolicies(options)
        roots = options.roots
        namedRoots = options.roots.certificates.compactMap { try? Certificate(derEncoded: $0) }
        challengeHandler = options.challengeHandler
        do {
            context = try NIOSSLContext(configuration: Self.configuration(options))
        } catch {
            throw .badCertificate("TLS can't be set up: \(String(describing: error).printable)", cause: error)
        }
    }

    /// A handler for one connection, and where it leaves why it refused the server.
    ///
    /// The host is a name in its ASCII form, or an address, which no server is told (RFC 6066, section 3).
    func makeHandler(host: String) throws(HTTPError) -> (handler: NIOSSLClientHandler, verdict: TLSVerdict) {
        let name = ServerName(host)
        let verdict = TLSVerdict()
        let trial = HandshakeTrial(judge: judge(for: name), verdict: verdict)
        do {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: name.hostName) { chain, promise in
                trial.start(chain, promise)
            }
            return (handler, verdict)
        } catch {
            let reason = "\"\(host.printable)\" can't be the name of a TLS server"
            throw HTTPError(.invalidURL, .neverSent, reason, cause: error)
        }
    }

    private func judge(for name: ServerName) -> ServerJudge {
        ServerJudge(
            name: name,
            policy: policies.policy(for: name),
            roots: roots,
            namedRoots: namedRoots,
            challengeHandler: challengeHandler
        )
    }

    /// What BoringSSL has to know; it is spared the roots, since the verdict is not its own.
    private static func configuration(_ options: TLSOptions) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        configuration.minimumTLSVersion = options.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        options.clientIdentity?.apply(to: &configuration)
        return configuration
    }
}

/// Why a connection's handshake was refused; set before the handshake fails.
///
/// For any thread.
final class TLSVerdict: Sendable {
    private enum State {
        case pending
        case accepted
        case refused(HTTPError)
    }

    private let state = Lock(State.pending)

    /// Why the server was refused, if it was.
    var refusal: HTTPError? {
        guard case .refused(let error) = state.withLock({ $0 }) else { return nil }
        return error
    }

    /// Keeps the verdict: why the server is refused, or nil.
    func keep(_ refusal: HTTPError?) { state.withLock { $0 = refusal.map(State.refused) ?? .accepted } }

    /// The error to report for what the handshake failed with: the refusal, if there is one, or what was seen.
    ///
    /// With TLS 1.3 a server can refuse a client certificate, or the lack of one, only when the handshake has ended for
    /// the client: what the connection then fails with can be given here too.
    func error(for cause: any Error, host: String) -> HTTPError {
        switch state.withLock({ $0 }) {
        case .refused(let error): error
        case .accepted: TLSFailure(host: host, isServerAccepted: true).error(for: cause)
        case .pending: TLSFailure(host: host, isServerAccepted: false).error(for: cause)
        }
    }
}

/// Finds the verdict on one server: the policy's, and the challenge handler's over it.
struct ServerJudge: Sendable {
    let name: ServerName
    let policy: PreparedPolicy
    let roots: TrustRoots
    let namedRoots: [Certificate]
    let challengeHandler: ChallengeHandler?

    /// Why the server is refused; nil if it is accepted.
    func refusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let refusal = await policyRefusal(of: encoded)
        guard let challengeHandler else { return refusal }
        let challenge = ServerChallenge(host: name.text, presentedChain: encoded, policyRefusal: refusal)
        switch await challengeHandler(challenge) {
        case .accept: return nil
        case .usePolicy: return refusal
        case .refuse(let error):
            let reason = "the challenge handler refused \(name.text): \(String(describing: error).printable)"
            return HTTPError(.challengeRefused, .neverSent, reason, cause: error)
        }
    }

    private func policyRefusal(of encoded: [[UInt8]]) async -> HTTPError? {
        let chain = PresentedChain(encoded)
        guard roots.includesSystem, policy.needsRoots else {
            return await evaluation(of: chain, Anchors(namedRoots)).refusal()
        }
        switch SystemRoots.shared {
        case .success(let store): return await evaluation(of: chain, Anchors(namedRoots, beside: store)).refusal()
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
    /// Whether a verdict can turn on the trusted roots.
    fileprivate var needsRoots: Bool { policy.mode != .none || !policy.allowsInvalidCertificates }
}

/// The verdict on one server while it is being found; ends with the connection's handler at the latest.
///
/// The handler alone holds it, and lets go of it when its connection is closed: what has not answered by then, a slow
/// challenge handler for one, is cancelled, and keeps nothing of the connection.
final class HandshakeTrial: Sendable {
    private let judge: ServerJudge
    private let verdict: TLSVerdict
    private let outcome = HandshakeOutcome()
    private let task = Lock<Task<Void, Never>?>(nil)

    init(judge: ServerJudge, verdict: TLSVerdict) {
        self.judge = judge
        self.verdict = verdict
    }

    deinit {
        task.withLock { $0 }?.cancel()
        outcome.settle(.failed)
    }

    /// Begins to find the verdict on a server that presented this chain, away from the event loop.
    func start(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        outcome.await(with: promise)
        let encoded = chain.map { (try? $0.toDERBytes()) ?? [] }
        let finding = Task { [judge, verdict, outcome] in
            let refusal = await judge.refusal(of: encoded)
            verdict.keep(refusal)
            outcome.settle(refusal == nil ? .certificateVerified : .failed)
        }
        task.withLock { $0 = finding }
    }
}

/// Completes a handshake's promise once, whichever call comes first.
private final class HandshakeOutcome: Sendable {
    private let promise = Lock<EventLoopPromise<NIOSSLVerificationResult>?>(nil)

    func await(with promise: EventLoopPromise<NIOSSLVerificationResult>) {
        self.promise.withLock { $0 = promise }
    }

    func settle(_ result: NIOSSLVerificationResult) {
        promise.withLock { promise in promise.take() }?.succeed(result)
    }
}
