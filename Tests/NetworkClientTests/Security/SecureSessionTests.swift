import HTTPLab
import NIOCore
import NIOSSL
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Trust evaluation in a whole session.
@Suite(.timeLimit(.minutes(10)))
struct SecureSessionTests {
    private let authority: CertificateAuthority
    private let clients: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
        clients = try CertificateAuthority("Clients")
    }

    private func trial(
        _ version: TLSVersion = .tlsv13,
        _ policy: SecurityPolicy = .standard,
        change: (inout TLSOptions) -> Void = { _ in }
    ) throws -> TLSTrial {
        var options = try TLSOptions.trusting(authority, policy)
        change(&options)
        var trial = TLSTrial(try authority.issue(), options)
        trial.version = version
        return trial
    }

    /// Sends a request to a server; returns its result and the server's record.
    private func request(_ trial: TLSTrial) async throws -> (error: HTTPError?, seen: TLSServerRecord) {
        let server = try await TLSServer.start(trial)
        let session = try HTTPSession(baseURL: server.url, configuration: .init(timeouts: .lasting, tls: trial.options))
        do throws(HTTPError) {
            let response = try await session.get("").response()
            #expect(response.status == 204)
            #expect(response.metrics.tls != nil)
        } catch {
            try await server.stop()
            return (error, server.record.value)
        }
        try await server.stop()
        return (nil, server.record.value)
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a server whose pin matches is spoken to`(version: TLSVersion) async throws {
        let policy = try SecurityPolicy(mode: .publicKey, pins: [.key(authority.root)])
        let (error, seen) = try await request(trial(version, policy))
        #expect(error == nil)
        #expect(seen.request.starts(with: "GET / HTTP/1.1\r\n".utf8))
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a server whose pin does not match learns nothing of the request`(version: TLSVersion) async throws {
        let policy = try SecurityPolicy(mode: .publicKey, pins: [.key(clients.root)])
        let (error, seen) = try await request(trial(version, policy))
        #expect(error?.code == .pinMismatch)
        #expect(error?.processing == .neverSent)
        #expect(error?.request?.hasPrefix("GET https://127.0.0.1:") == true)
        #expect(seen.request.isEmpty)
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a server that requires a client certificate refuses the request unprocessed`(version: TLSVersion) async throws
    {
        var trial = try trial(version)
        trial.clientAuthority = clients.intermediate
        let (error, seen) = try await request(trial)
        #expect(error?.code == .clientCertificateRefused)
        #expect(error?.processing == (version == .tlsv12 ? .neverSent : .refusedUnprocessed))
        #expect(seen.request.isEmpty)
    }

    @Test func `the handshake timeout ends a challenge handler that never returns`() async throws {
        let pending = Observed(0)
        let trial = try trial { options in
            options.challengeHandler = { _ in
                pending.update { $0 += 1 }
                try? await Task.sleep(for: .seconds(3_600))
                pending.update { $0 -= 1 }
                return .accept
            }
        }
        let server = try await TLSServer.start(trial)
        var configuration = HTTPConfiguration(timeouts: .lasting, tls: trial.options)
        configuration.timeouts.tls = .seconds(1)
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .tlsTimedOut)
        #expect(error?.processing == .neverSent)
        // On a busy machine, the timeout may expire before the handler is called.
        try await pending.wait(for: "the handler's cancellation") { $0 == 0 }
        #expect(server.record.value.request.isEmpty)
        try await server.stop()
    }

    @Test func `a request that is cancelled waits for no challenge handler`() async throws {
        let isAsked = Observed(false)
        let isCancelled = Observed(false)
        let trial = try trial { options in
            options.challengeHandler = { _ in
                isAsked.update { $0 = true }
                try? await Task.sleep(for: .seconds(3_600))
                isCancelled.update { $0 = Task.isCancelled }
                return .accept
            }
        }
        let server = try await TLSServer.start(trial)
        let session = try HTTPSession(baseURL: server.url, configuration: .init(timeouts: .lasting, tls: trial.options))
        let request = Task { try await session.get("").response() }
        try await isAsked.wait(for: "the challenge") { $0 }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.value }
        #expect(error?.code == .cancelled)
        try await isCancelled.wait(for: "the handler's cancellation") { $0 }
        try await server.stop()
    }

    @Test func `a session with pins requires an https base URL`() throws {
        let policy = try SecurityPolicy(mode: .publicKey, pins: [.key(authority.root)])
        let configuration = HTTPConfiguration(tls: TLSOptions(policy: policy))
        let error = #expect(throws: HTTPError.self) {
            try HTTPSession(baseURL: "http://127.0.0.1/", configuration: configuration)
        }
        #expect(error?.code == .invalidConfiguration)
    }
}
