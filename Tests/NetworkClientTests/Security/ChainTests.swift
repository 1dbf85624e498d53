import HTTPLab
import Testing
import X509

@testable import NetworkClient

/// The evaluation of chains of every kind against trusted roots, in real handshakes.
@Suite(.timeLimit(.minutes(10)))
struct ChainTests {
    private let authority: CertificateAuthority
    private let options: TLSOptions

    init() throws {
        authority = try CertificateAuthority()
        options = try .trusting(authority)
    }

    @Test func `a chain that leads to a trusted root is accepted`() async throws {
        let outcome = try await TLSTrial(authority.issue(), options).run()
        #expect(outcome.error == nil)
        #expect(outcome.seen.request == Array(TLSClientProbe.request.utf8))
    }

    @Test func `a certificate that has expired is refused with its date`() async throws {
        let error = try #require(try await TLSTrial(authority.issue(validity: .expired), options).refusal())
        #expect(error.code == .certificateExpired)
        #expect(error.processing == .neverSent)
        #expect(error.reason.hasPrefix("the certificate of localhost has expired on 20"))
    }

    @Test func `a certificate that is not valid yet is refused with a look at the clock`() async throws {
        let error = try #require(try await TLSTrial(authority.issue(validity: .notYet), options).refusal())
        #expect(error.code == .certificateNotYetValid)
        #expect(error.reason.contains("is not valid before 20"))
        #expect(error.reason.hasSuffix("is the clock right?"))
    }

    @Test func `an intermediate that has expired is named`() async throws {
        let old = try MintedCertificate(
            .init("Old Intermediate") {
                $0.isAuthority = true
                $0.validity = .expired
            },
            by: authority.root
        )
        let own = try MintedCertificate(.init("localhost", names: ["localhost"]), by: old)
        let error = try #require(try await TLSTrial(.init(own: own, above: [old]), options).refusal())
        #expect(error.code == .certificateExpired)
        #expect(error.reason.contains("CN=Old Intermediate"))
    }

    @Test func `a certificate for another host is refused with the names that it has`() async throws {
        let server = try authority.issue(["a.example", "b.example"], addresses: ["192.0.2.7"])
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateHostMismatch)
        #expect(error.reason == "the certificate is not for localhost, but for a.example, b.example, 192.0.2.7")
    }

    @Test func `a self-signed certificate is refused as such`() async throws {
        let own = try MintedCertificate(.init("localhost", names: ["localhost"]))
        let error = try #require(try await TLSTrial(.init(own: own), options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("is self-signed"))
    }

    @Test func `an unknown root that the server sends is named`() async throws {
        let other = try CertificateAuthority("Other")
        var server = try other.issue()
        server.above.append(other.root)
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("leads to CN=Other Root, which is not trusted"))
    }

    @Test func `a root with the same name and another key is not trusted`() async throws {
        let impostor = try CertificateAuthority()
        let error = try #require(try await TLSTrial(impostor.issue(), options).refusal())
        #expect(error.code == .certificateUntrusted)
    }

    @Test func `a missing intermediate is reported`() async throws {
        var server = try authority.issue()
        server.above = []
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("CN=Lab Intermediate, which issued CN=localhost"))
        #expect(error.reason.contains("have the server send its intermediates"))
    }

    @Test func `a server's own certificate issues no other`() async throws {
        let own = try authority.issue(["attacker.example"])
        let forged = try MintedCertificate(.init("localhost", names: ["localhost"]), by: own.own)
        let server = MintedIdentity(own: forged, above: [own.own] + own.above)
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("CN=attacker.example is no authority"))
    }

    @Test func `a certificate of version 1 issues no other`() async throws {
        let own = try authority.issue(.init("old.example") { $0.isVersion1 = true })
        let forged = try MintedCertificate(.init("localhost", names: ["localhost"]), by: own.own)
        let server = MintedIdentity(own: forged, above: [own.own] + own.above)
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("version 1"))
    }

    @Test func `a path that is longer than an authority allows is refused`() async throws {
        let narrow = try MintedCertificate(
            .init("Narrow") {
                $0.isAuthority = true
                $0.pathLength = 0
            },
            by: authority.root
        )
        let below = try MintedCertificate(.init("Below") { $0.isAuthority = true }, by: narrow)
        let own = try MintedCertificate(.init("localhost", names: ["localhost"]), by: below)
        let error = try #require(try await TLSTrial(.init(own: own, above: [below, narrow]), options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("CN=Narrow allows fewer authorities below it"))
    }

    @Test(arguments: [false, true])
    func `a client's certificate makes no server`(isCritical: Bool) async throws {
        let server = try authority.issue(
            .init("localhost", names: ["localhost"]) {
                $0.usages = [.clientAuth]
                $0.areUsagesCritical = isCritical
            }
        )
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("is not for TLS servers"))
    }

    @Test func `a usage that is marked as critical is understood`() async throws {
        let request = CertificateRequest("localhost", names: ["localhost"]) { $0.areUsagesCritical = true }
        #expect(try await TLSTrial(authority.issue(request), options).refusal() == nil)
    }

    @Test func `additional certificates outside the path are ignored`() async throws {
        let other = try CertificateAuthority("Other")
        var server = try authority.issue()
        server.above = [other.intermediate, other.root] + server.above + [authority.root]
        #expect(try await TLSTrial(server, options).refusal() == nil)
    }

    @Test func `a certificate that is a root itself is accepted, authority or not`() async throws {
        let own = try MintedCertificate(.init("localhost", names: ["localhost"]))
        let options = TLSOptions(roots: try .only(Array(own.pem.utf8)))
        #expect(try await TLSTrial(.init(own: own), options).refusal() == nil)
        let error = try #require(try await TLSTrial(.init(own: own), options, host: "other.example").refusal())
        #expect(error.code == .certificateHostMismatch)
    }
}
