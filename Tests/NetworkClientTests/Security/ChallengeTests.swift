import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import NetworkClient

/// The input of challenge handlers, and the effect of their verdicts.
struct ChallengeTests {
    private struct Revoked: Error, CustomStringConvertible { var description: String { "revoked\nyesterday" } }

    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority() }

    private func options(
        _ policy: SecurityPolicy = .standard,
        _ handler: @escaping ChallengeHandler
    ) throws -> TLSOptions {
        var options = try TLSOptions.trusting(authority, policy)
        options.challengeHandler = handler
        return options
    }

    private func mismatch() throws -> SecurityPolicy {
        try SecurityPolicy(mode: .publicKey, pins: [.key(CertificateAuthority("Other").root)])
    }

    @Test func `a handler gets the host, the presented chain, and the policy's verdict`() async throws {
        let server = try authority.issue()
        let seen = Observed<[ServerChallenge]>([])
        let options = try options(mismatch()) { challenge in
            seen.update { $0.append(challenge) }
            return .usePolicy
        }
        let error = try await TLSTrial(server, options).refusal()
        let challenge = try #require(seen.value.first)
        #expect(seen.value.count == 1)
        #expect(challenge.host == "localhost")
        #expect(challenge.presentedChain == [server.own.der, authority.intermediate.der])
        #expect(challenge.policyRefusal?.code == .pinMismatch)
        #expect(error?.code == .pinMismatch)
    }

    @Test func `a handler that falls back has the policy accept, too`() async throws {
        let refusals = Observed<[HTTPError?]>([])
        let options = try options { challenge in
            refusals.update { $0.append(challenge.policyRefusal) }
            return .usePolicy
        }
        #expect(try await TLSTrial(authority.issue(), options).refusal() == nil)
        #expect(refusals.value.count == 1)
        #expect(refusals.value.allSatisfy { $0 == nil })
    }

    @Test func `a handler accepts what the policy would refuse`() async throws {
        let outcome = try await TLSTrial(authority.issue(), options(mismatch()) { _ in .accept }).run()
        #expect(outcome.error == nil)
        #expect(outcome.seen.request == Array(TLSClientProbe.request.utf8))
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a handler refuses what the policy would accept, with its own error`(version: TLSVersion) async throws {
        var trial = TLSTrial(try authority.issue(), try options { _ in .refuse(Revoked()) })
        trial.version = version
        let outcome = try await trial.run()
        let error = try #require(outcome.error)
        #expect(error.code == .challengeRefused)
        #expect(error.processing == .neverSent)
        #expect(error.reason == "the challenge handler refused localhost: revoked?yesterday")
        #expect(error.cause is Revoked)
        #expect(outcome.seen.hasOnlyHelloAndAlert)
    }

    @Test func `a slow handler delays the request until it returns`() async throws {
        let isAsked = Observed(false)
        let mayReturn = Observed(false)
        let options = try options { _ in
            isAsked.update { $0 = true }
            _ = try? await mayReturn.wait(for: "permission to return") { $0 }
            return .accept
        }
        let connection = try await TLSTrial(authority.issue(), options).open()
        try await isAsked.wait(for: "the question") { $0 }
        #expect(connection.client.end.value == nil)
        #expect(connection.record.value.request.isEmpty)
        mayReturn.update { $0 = true }
        #expect(try await connection.client.finish().error == nil)
        #expect(connection.record.value.request == Array(TLSClientProbe.request.utf8))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a handler that never returns is cancelled with its connection`() async throws {
        let isAsked = Observed(false)
        let isCancelled = Observed(false)
        let options = try options { _ in
            isAsked.update { $0 = true }
            try? await Task.sleep(for: .seconds(3_600))
            isCancelled.update { $0 = Task.isCancelled }
            return .accept
        }
        let connection = try await TLSTrial(authority.issue(), options).open()
        try await isAsked.wait(for: "the question") { $0 }
        try? await connection.client.channel.close()
        try await isCancelled.wait(for: "the cancellation") { $0 }
        try await connection.server.closeFuture.get()
        #expect(connection.record.value.request.isEmpty)
        await connection.client.handler.waitUntilReleased()
    }

    @Test func `a handshake ends with its connection, even if the handler does not return`() async throws {
        let mayReturn = Observed(false)
        let options = try options { _ in
            _ = try? await mayReturn.wait(for: "permission to return") { $0 }
            return .accept
        }
        let evaluator = ServerEvaluator(
            name: ServerName("localhost"),
            request: .unknown,
            policy: try PreparedPolicy(.standard, of: "the policy"),
            roots: options.roots,
            namedRoots: [],
            challengeHandler: options.challengeHandler
        )
        let promise = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: NIOSSLVerificationResult.self)
        HandshakeVerification(evaluator: evaluator, verdict: TLSVerdict()).start([], promise)
        #expect(try await promise.futureResult.get() == .failed)
        mayReturn.update { $0 = true }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a handler that ignores its cancellation retains nothing of the connection`() async throws {
        let isAsked = Observed(false)
        let mayReturn = Observed(false)
        let options = try options { _ in
            isAsked.update { $0 = true }
            _ = try? await mayReturn.wait(for: "permission to return") { $0 }
            return .accept
        }
        let connection = try await TLSTrial(authority.issue(), options).open()
        try await isAsked.wait(for: "the question") { $0 }
        try? await connection.client.channel.close()
        await connection.client.handler.waitUntilReleased()
        mayReturn.update { $0 = true }
        try await connection.server.closeFuture.get()
        #expect(connection.record.value.request.isEmpty)
    }
}
