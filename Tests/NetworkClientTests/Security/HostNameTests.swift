import HTTPLab
import Testing

@testable import NetworkClient

/// Which hosts a certificate is for, through real handshakes.
struct HostNameTests {
    private let authority: CertificateAuthority
    private let options: TLSOptions

    init() throws {
        authority = try CertificateAuthority()
        options = try .trusting(authority)
    }

    @Test(arguments: ["127.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::1%lo"])
    func `an address is looked for among the certificate's addresses`(host: String) async throws {
        #expect(try await TLSTrial(authority.issue(), options, host: host).refusal() == nil)
    }

    @Test(arguments: ["127.0.0.2", "::2", "::ffff:127.0.0.1"])
    func `another address is refused`(host: String) async throws {
        let error = try #require(try await TLSTrial(authority.issue(), options, host: host).refusal())
        #expect(error.code == .certificateHostMismatch)
        #expect(error.reason == "the certificate is not for \(host), but for localhost, 127.0.0.1, ::1")
    }

    @Test func `a host's name that looks like an address is none`() async throws {
        let server = try authority.issue(["127.0.0.1", "*.0.0.1"], addresses: [])
        let error = try await TLSTrial(server, options, host: "127.0.0.1").refusal()
        #expect(error?.code == .certificateHostMismatch)
    }

    @Test(arguments: ["a.example.com", "A.Example.COM", "a.example.com."])
    func `a wildcard stands for one label`(host: String) async throws {
        let server = try authority.issue(["*.example.com"])
        #expect(try await TLSTrial(server, options, host: host).refusal() == nil)
    }

    @Test(arguments: ["example.com", "a.b.example.com", "aexample.com", "localhost."])
    func `a wildcard stands for no more and no less`(host: String) async throws {
        let server = try authority.issue(["*.example.com"])
        #expect(try await TLSTrial(server, options, host: host).refusal()?.code == .certificateHostMismatch)
    }

    @Test(arguments: ["", String(repeating: "a", count: 256), "a\0b"])
    func `what can be no host's name fails before anything is sent`(host: String) throws {
        let error = #expect(throws: HTTPError.self) { try TLSClient(options).makeHandler(host: host) }
        #expect(error?.code == .invalidURL)
        #expect(error?.processing == .neverSent)
    }
}
