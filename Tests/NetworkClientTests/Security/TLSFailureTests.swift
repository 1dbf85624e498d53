import Glibc
import HTTPLab
import NIOCore
import NIOSSL
import NetworkLab
import Testing

@testable import NetworkClient

/// The errors of handshakes that fail for other reasons than a certificate.
@Suite(.timeLimit(.minutes(10)))
struct TLSFailureTests {
    private let authority: CertificateAuthority
    private let options: TLSOptions

    init() throws {
        authority = try CertificateAuthority()
        options = try .trusting(authority)
    }

    /// Returns the error of a handshake with a peer that sends these bytes and closes.
    private func error(from peer: String) async throws -> HTTPError {
        let (near, socket) = try TLSTrialConnection.socketPair()
        let far = OwnedDescriptor(socket)
        let client = try await TLSTrialClient.connect(near, options)
        let bytes = Array(peer.utf8)
        #expect(write(far.number, bytes, bytes.count) == bytes.count)
        shutdown(far.number, Int32(SHUT_WR))
        return try #require(try await client.finish().error)
    }

    @Test func `a server without TLS is recognized`() async throws {
        let error = try await error(from: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        #expect(error.code == .tlsFailed)
        #expect(error.processing == .neverSent)
        #expect(error.reason.contains("responds in plain text"))
    }

    @Test func `a server that closes immediately is a lost connection`() async throws {
        let error = try await error(from: "")
        #expect(error.code == .connectionLost)
        #expect(error.processing == .neverSent)
        #expect(error.reason == "localhost closed the connection within the TLS handshake")
    }

    @Test func `a reset keeps its errno`() {
        let cause = IOError(errnoCode: ECONNRESET, reason: "read")
        let error = TLSVerdict().error(for: cause, host: "localhost")
        #expect(error.code == .connectionLost)
        #expect(error.errno == ECONNRESET)
    }

    @Test func `a server with only an old TLS version is reported`() async throws {
        var trial = TLSTrial(try authority.issue(), options)
        trial.version = .tlsv12
        #expect(try await trial.refusal() == nil)
        trial.options.minimumVersion = .tls13
        let error = try #require(try await trial.refusal())
        #expect(error.code == .tlsFailed)
        #expect(error.reason.contains("speaks no version of TLS that is allowed"))
    }

    @Test func `TLS 1_1 is never spoken`() async throws {
        var trial = TLSTrial(try authority.issue(), options)
        trial.version = .tlsv11
        let error = try #require(try await trial.refusal())
        #expect(error.code == .tlsFailed)
        #expect(error.reason.contains("speaks no version of TLS that is allowed"))
    }

    @Test func `the refusal takes precedence over the resulting handshake error`() {
        let verdict = TLSVerdict()
        let refusal = HTTPError(.pinMismatch, processing: .neverSent, reason: "no pin")
        verdict.keep(refusal)
        #expect(verdict.refusal?.code == .pinMismatch)
        #expect(verdict.error(for: ChannelError.eof, host: "localhost").reason == "no pin")
    }

    @Test func `an unknown error is passed on`() {
        let error = TLSVerdict().error(for: NIOSSLError.noCertificateToValidate, host: "localhost")
        #expect(error.code == .tlsFailed)
        #expect(error.reason == "TLS with localhost failed: noCertificateToValidate")
        #expect(error.cause as? NIOSSLError == .noCertificateToValidate)
    }
}
