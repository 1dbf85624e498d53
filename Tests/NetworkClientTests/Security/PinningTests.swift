import HTTPLab
import NIOSSL
import Testing
import X509

@testable import NetworkClient

/// Pinning in real handshakes: accepted and refused chains, and the secrecy of the request from a refused server.
@Suite(.timeLimit(.minutes(10)))
struct PinningTests {
    private let authority: CertificateAuthority
    private let server: MintedIdentity

    init() throws {
        authority = try CertificateAuthority()
        server = try authority.issue()
    }

    /// The pinned position in a server's chain.
    enum Place: CaseIterable {
        case leaf
        case intermediate
        case root
    }

    private func certificate(_ place: Place) -> MintedCertificate {
        switch place {
        case .leaf: server.own
        case .intermediate: authority.intermediate
        case .root: authority.root
        }
    }

    private func pinned(_ mode: SecurityPolicy.Mode, _ pins: [Pin]) throws -> TLSOptions {
        try .trusting(authority, SecurityPolicy(mode: mode, pins: pins))
    }

    @Test(arguments: Place.allCases)
    func `a certificate of the chain is pinned`(place: Place) async throws {
        let options = try pinned(.certificate, [.certificate(certificate(place))])
        #expect(try await TLSTrial(server, options).refusal() == nil)
    }

    @Test(arguments: Place.allCases)
    func `a key of the chain is pinned`(place: Place) async throws {
        let options = try pinned(.publicKey, [.key(certificate(place))])
        #expect(try await TLSTrial(server, options).refusal() == nil)
    }

    @Test(arguments: Place.allCases)
    func `a pinned certificate pins its key too`(place: Place) async throws {
        let options = try pinned(.publicKey, [.certificate(certificate(place))])
        #expect(try await TLSTrial(server, options).refusal() == nil)
    }

    @Test func `one pin of several is enough`() async throws {
        let other = try CertificateAuthority("Other")
        let options = try pinned(.publicKey, [.key(other.root), .key(server.own)])
        #expect(try await TLSTrial(server, options).refusal() == nil)
    }

    @Test func `a renewed certificate keeps the pin of its key, and loses the one of the certificate`() async throws {
        let renewed = try authority.issue(.init("localhost", names: ["localhost"]) { $0.key = server.own.key })
        let key = try pinned(.publicKey, [.key(server.own)])
        #expect(try await TLSTrial(renewed, key).refusal() == nil)
        let whole = try pinned(.certificate, [.certificate(server.own)])
        #expect(try await TLSTrial(renewed, whole).refusal()?.code == .pinMismatch)
    }

    @Test(arguments: [SecurityPolicy.Mode.certificate, .publicKey], [TLSVersion.tlsv12, .tlsv13])
    func `a pin that does not match keeps the request and the client certificate at home`(
        mode: SecurityPolicy.Mode,
        version: TLSVersion
    ) async throws {
        let clients = try CertificateAuthority("Clients")
        var options = try pinned(mode, [.certificate(CertificateAuthority("Other").root)])
        let identity = try clients.issueClient()
        options.clientIdentity = try ClientIdentity(
            certificates: Array(identity.chainPEM.utf8),
            key: Array(identity.own.keyPEM.utf8)
        )
        var trial = TLSTrial(server, options)
        trial.version = version
        trial.clientAuthority = clients.intermediate
        let outcome = try await trial.run()
        let error = try #require(outcome.error)
        #expect(error.code == .pinMismatch)
        #expect(error.processing == .neverSent)
        #expect(outcome.version == version)
        #expect(outcome.seen.request.isEmpty)
        #expect(outcome.seen.clientCertificates == 0)
        #expect(outcome.seen.hasOnlyHelloAndAlert, "\(outcome.seen.records)")
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `the same server sees both where the pin matches`(version: TLSVersion) async throws {
        let clients = try CertificateAuthority("Clients")
        var options = try pinned(.publicKey, [.key(server.own)])
        let identity = try clients.issueClient()
        options.clientIdentity = try ClientIdentity(
            certificates: Array(identity.chainPEM.utf8),
            key: Array(identity.own.keyPEM.utf8)
        )
        var trial = TLSTrial(server, options)
        trial.version = version
        trial.clientAuthority = clients.intermediate
        let outcome = try await trial.run()
        #expect(outcome.error == nil)
        #expect(outcome.seen.request == Array(TLSClientProbe.request.utf8))
        #expect(outcome.seen.clientCertificates == 2)
        #expect(!outcome.seen.hasOnlyHelloAndAlert)
    }

    @Test func `a mismatch lists the pins that would match`() async throws {
        let options = try pinned(.publicKey, [.key(CertificateAuthority("Other").root)])
        let error = try #require(try await TLSTrial(server, options).refusal())
        #expect(
            error.reason == "none of the pins is in the chain of localhost; that chain has (validated): "
                + "\(server.own.pin) (CN=localhost), \(authority.intermediate.pin) (CN=Lab Intermediate), "
                + "\(authority.root.pin) (CN=Lab Root)"
        )
    }

    @Test(arguments: [SecurityPolicy.Mode.certificate, .publicKey], [false, true])
    func `a pinned certificate that is appended to a foreign chain counts for nothing`(
        mode: SecurityPolicy.Mode,
        allowsInvalid: Bool
    ) async throws {
        let attacker = try CertificateAuthority("Attacker")
        var forged = try attacker.issue()
        forged.above += [server.own, authority.intermediate, authority.root]
        let pins = try [server.own, authority.intermediate, authority.root].map(Pin.certificate)
        let policy = SecurityPolicy(mode: mode, pins: pins, allowsInvalidCertificates: allowsInvalid)
        // The attacker's authority is one that the system trusts: only the pins stand in its way.
        let error = try #require(try await TLSTrial(forged, .trusting(attacker, policy)).refusal())
        #expect(error.code == .pinMismatch)
    }

    @Test(arguments: [SecurityPolicy.Mode.certificate, .publicKey])
    func `a pinned authority's customer is no authority`(mode: SecurityPolicy.Mode) async throws {
        let customer = try authority.issue(["customer.example"])
        let forged = try MintedCertificate(.init("localhost", names: ["localhost"]), by: customer.own)
        let chain = MintedIdentity(own: forged, above: [customer.own] + customer.above + [authority.root])
        let policy = try SecurityPolicy(
            mode: mode,
            pins: [.certificate(authority.root)],
            allowsInvalidCertificates: true
        )
        let code = try await TLSTrial(chain, .trusting(authority, policy)).refusal()?.code
        #expect(code == (mode == .certificate ? .certificateUntrusted : .pinMismatch))
    }

    @Test func `a pinned certificate that is not for servers is refused for that`() async throws {
        let client = try authority.issue(.init("localhost", names: ["localhost"]) { $0.usages = [.clientAuth] })
        let policy = try SecurityPolicy(
            mode: .certificate,
            pins: [.certificate(client.own)],
            allowsInvalidCertificates: true
        )
        let error = try #require(try await TLSTrial(client, .trusting(authority, policy)).refusal())
        #expect(error.code == .certificateUntrusted)
        #expect(error.reason.contains("is not for TLS servers"))
    }

    @Test func `of several valid paths any with a pin will do`() async throws {
        // The intermediate's key is certified by two roots, both of them trusted.
        let second = try CertificateAuthority("Second")
        let crossed = try MintedCertificate(
            .init("Lab Intermediate") {
                $0.isAuthority = true
                $0.key = authority.intermediate.key
            },
            by: second.root
        )
        var server = server
        server.above.append(crossed)
        let roots = Array((authority.root.pem + second.root.pem).utf8)
        for root in [authority.root, second.root] {
            let policy = try SecurityPolicy(mode: .publicKey, pins: [.key(root)])
            let options = TLSOptions(policy: policy, roots: try .only(roots))
            #expect(try await TLSTrial(server, options).refusal() == nil)
        }
    }
}
