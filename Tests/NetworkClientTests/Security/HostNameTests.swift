import HTTPLab
import Testing

@testable import NetworkClient

/// Host name validation in real handshakes.
@Suite(.timeLimit(.minutes(10)))
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
    func `a wildcard matches one label`(host: String) async throws {
        let server = try authority.issue(["*.example.com"])
        #expect(try await TLSTrial(server, options, host: host).refusal() == nil)
    }

    @Test(arguments: ["example.com", "a.b.example.com", "aexample.com", "localhost."])
    func `a wildcard matches neither fewer nor more labels`(host: String) async throws {
        let server = try authority.issue(["*.example.com"])
        #expect(try await TLSTrial(server, options, host: host).refusal()?.code == .certificateHostMismatch)
    }

    @Test(arguments: ["", String(repeating: "a", count: 256), "a\0b"])
    func `an invalid host name fails before anything is sent`(host: String) throws {
        let error = #expect(throws: HTTPError.self) { try TLSClient(options).makeHandler(host: host) }
        #expect(error?.code == .invalidURL)
        #expect(error?.processing == .neverSent)
    }

    @Test(arguments: ["w*.example.test", "*b.example.test", "w*b.example.test", "web.*.test", "*.*.test", "*"])
    func `a wildcard that is not the whole leftmost label matches nothing`(pattern: String) async throws {
        let server = try authority.issue([pattern], addresses: [])
        for host in ["web.example.test", "localhost"] {
            #expect(try await TLSTrial(server, options, host: host).refusal()?.code == .certificateHostMismatch)
        }
    }

    @Test func `a common name does not count`() async throws {
        let server = try authority.issue(.init("localhost"))
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateHostMismatch)
        #expect(error.reason.contains("has no subjectAltName"))
    }

    @Test func `a common name does not count where the certificate is a trusted root itself`() async throws {
        let own = try MintedCertificate(.init("localhost"))
        let options = TLSOptions(roots: try .only(Array(own.pem.utf8)))
        #expect(try await TLSTrial(.init(own: own), options).refusal()?.code == .certificateHostMismatch)
    }

    private func trial(
        _ request: CertificateRequest,
        host: String,
        _ constrain: (inout CertificateRequest) -> Void
    ) throws -> TLSTrial {
        var constrained = CertificateRequest("Constrained")
        constrained.isAuthority = true
        constrain(&constrained)
        let issuer = try MintedCertificate(constrained, by: authority.root)
        let own = try MintedCertificate(request, by: issuer)
        return TLSTrial(.init(own: own, above: [issuer]), options, host: host)
    }

    @Test(arguments: [
        CertificateRequest("a.test"), CertificateRequest("a.test", names: ["a.test"]),
        CertificateRequest("a.test", names: ["b.test", "a.test"]), CertificateRequest("a.test", names: ["*.test"]),
        CertificateRequest("a.test", names: ["a.test."]),
    ])
    func `an authority vouches for no host outside its name constraints`(request: CertificateRequest) async throws {
        #expect(try await trial(request, host: "a.test") { $0.permittedNames = ["b.test"] }.refusal() != nil)
        #expect(try await trial(request, host: "a.test") { $0.excludedNames = ["a.test"] }.refusal() != nil)
    }

    @Test(arguments: [["x.a.test"], ["*.a.test"], ["X.A.Test"]])
    func `a host within an excluded name is refused, by a wildcard too`(names: [String]) async throws {
        let request = CertificateRequest("server", names: names)
        for excluded in ["a.test", "x.a.test", "X.A.TEST", ".a.test"] {
            let error = try await trial(request, host: "x.a.test") { $0.excludedNames = [excluded] }.refusal()
            #expect(error?.code == .certificateUntrusted, "\(excluded)")
        }
    }

    @Test func `a host within the name constraints is accepted`() async throws {
        for names in [["b.test"], ["b.test", "x.b.test"], ["*.b.test", "b.test"]] {
            let request = CertificateRequest("server", names: names)
            let trial = try trial(request, host: "b.test") {
                $0.permittedNames = ["b.test"]
                $0.excludedNames = ["a.test", ".b.test.test"]
            }
            #expect(try await trial.refusal() == nil)
        }
    }
}
