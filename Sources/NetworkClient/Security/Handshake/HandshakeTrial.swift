import Locking
import NIOCore
import NIOSSL

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

/// Completes a handshake's promise once, whoever comes first.
private final class HandshakeOutcome: Sendable {
    private let promise = Lock<EventLoopPromise<NIOSSLVerificationResult>?>(nil)

    func await(with promise: EventLoopPromise<NIOSSLVerificationResult>) {
        self.promise.withLock { $0 = promise }
    }

    func settle(_ result: NIOSSLVerificationResult) {
        promise.withLock { promise in promise.take() }?.succeed(result)
    }
}
