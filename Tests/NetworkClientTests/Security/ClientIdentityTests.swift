import HTTPLab
import NIOSSL
import Testing

@testable import NetworkClient

/// Client certificates: loaded, presented, missing, and refused.
@Suite(.timeLimit(.minutes(10)))
struct ClientIdentityTests {
    private let authority: CertificateAuthority
    private let clients: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority()
        clients = try CertificateAuthority("Clients")
    }

    private func trial(_ identity: MintedIdentity?, _ version: TLSVersion) throws -> TLSTrial {
        var options = try TLSOptions.trusting(authority)
        if let identity {
            let folder = try LabFolder()
            let files = try identity.write(to: folder, as: "client")
            options.clientIdentity = try ClientIdentity(certificateFile: files.chain, keyFile: files.key)
        }
        var trial = TLSTrial(try authority.issue(), options)
        trial.version = version
        trial.clientAuthority = clients.intermediate
        return trial
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a client certificate is presented to a server that requests one`(version: TLSVersion) async throws {
        let outcome = try await trial(clients.issueClient(), version).run()
        #expect(outcome.error == nil)
        #expect(outcome.seen.clientCertificates == 2)
    }

    @Test func `no certificate is presented to a server that does not request one`() async throws {
        var trial = try trial(clients.issueClient(), .tlsv13)
        trial.clientAuthority = nil
        let outcome = try await trial.run()
        #expect(outcome.error == nil)
        #expect(outcome.seen.clientCertificates == 0)
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a missing client certificate is reported`(version: TLSVersion) async throws {
        let outcome = try await trial(nil, version).run()
        let error = try #require(outcome.error)
        #expect(error.code == .clientCertificateRefused)
        #expect(error.processing == .neverSent)
        #expect(error.reason.hasPrefix("TLS with localhost failed: the server wants a client certificate"))
        #expect(outcome.seen.request.isEmpty)
    }

    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `a refused client certificate is reported`(version: TLSVersion) async throws {
        let outcome = try await trial(authority.issueClient(), version).run()
        let error = try #require(outcome.error)
        #expect(error.code == .clientCertificateRefused)
        #expect(error.reason.contains("does not accept the client certificate"))
        #expect(outcome.seen.request.isEmpty)
    }

    @Test func `certificate and key may be in DER, or in one file`() throws {
        let identity = try clients.issueClient()
        let pem = identity.chainPEM + identity.own.keyPEM
        let folder = try LabFolder()
        let both = try folder.write("both.pem", pem)
        #expect(try ClientIdentity(certificateFile: both, keyFile: both).chain.count == 2)
        let key = try NIOSSLPrivateKey(bytes: Array(pem.utf8), format: .pem).derBytes
        #expect(try ClientIdentity(certificates: identity.own.der, key: key).chain.count == 1)
    }

    @Test func `the error for an invalid identity names its source`() throws {
        let identity = try clients.issueClient()
        let other = try clients.issueClient()
        let folder = try LabFolder()
        let (chain, key) = try identity.write(to: folder)
        let absent = "\(folder.path)/absent.pem"
        let noKey = #expect(throws: HTTPError.self) { try ClientIdentity(certificateFile: chain, keyFile: chain) }
        #expect(noKey?.reason.hasPrefix("\(chain) holds no private key") == true)
        let noCertificate = #expect(throws: HTTPError.self) { try ClientIdentity(certificateFile: key, keyFile: key) }
        #expect(noCertificate?.reason.hasPrefix("\(key) holds no certificate") == true)
        let noFile = #expect(throws: HTTPError.self) { try ClientIdentity(certificateFile: absent, keyFile: key) }
        #expect(noFile?.reason == "\(absent) can't be read: No such file or directory")
        #expect(noFile?.errno == 2)
        let foreignKey = Array(other.own.keyPEM.utf8)
        let foreign = #expect(throws: HTTPError.self) {
            try ClientIdentity(certificates: identity.own.der, key: foreignKey)
        }
        #expect(foreign?.reason.hasPrefix("the client key is not the key of the client certificate") == true)
        for error in [noKey, noCertificate, noFile, foreign] { #expect(error?.code == .invalidConfiguration) }
    }
}
