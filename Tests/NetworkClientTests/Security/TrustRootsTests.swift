import HTTPLab
import SwiftASN1
import Testing
import X509

@testable import NetworkClient

/// The sources of roots.
@Suite(.timeLimit(.minutes(10)))
struct TrustRootsTests {
    private let authority: CertificateAuthority

    init() throws { authority = try CertificateAuthority() }

    @Test func `roots can be bytes or files, in PEM or DER, one or several`() async throws {
        let folder = try LabFolder()
        let other = try CertificateAuthority("Other")
        let both = other.root.pem + authority.root.pem
        let all = [
            try TrustRoots.only(authority.root.der), try .only(Array(both.utf8)),
            try .only(file: folder.write("roots.pem", both)), try .system(adding: authority.root.der),
            try .system(addingFile: folder.write("root.cer", authority.root.der)),
        ]
        for roots in all {
            #expect(try await TLSTrial(authority.issue(), TLSOptions(roots: roots)).refusal() == nil)
        }
    }

    @Test func `the system does not know the lab's authority`() async throws {
        let error = try await TLSTrial(authority.issue(), TLSOptions()).refusal()
        #expect(error?.code == .certificateUntrusted)
    }

    @Test func `roots that are none are refused with the name of their file`() throws {
        let folder = try LabFolder()
        let key = try folder.write("key.pem", authority.root.keyPEM)
        let error = #expect(throws: HTTPError.self) { try TrustRoots.only(file: key) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.reason.hasPrefix("\(key) holds no certificate") == true)
        let absent = #expect(throws: HTTPError.self) { try TrustRoots.system(addingFile: "/absent.pem") }
        #expect(absent?.reason == "/absent.pem can't be read: No such file or directory")
    }

    @Test func `an unreadable certificate does not invalidate the others`() async throws {
        let folder = try LabFolder()
        let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        let bundle = try folder.write("bundle.crt", "# roots\n" + broken + authority.root.pem)
        var verifier = Verifier(rootCertificates: try SystemRoots.load(from: ["/absent.crt", bundle]).get()) {
            RFC5280Policy()
        }
        let result = await verifier.validate(leaf: authority.intermediate.certificate, intermediates: .init())
        guard case .validCertificate(let path) = result else {
            Issue.record("no path to the root: \(result)")
            return
        }
        #expect(Array(path) == [authority.intermediate.certificate, authority.root.certificate])
    }

    @Test func `additional roots are found like the system's, including those with the same name`() async throws {
        let namesake = try CertificateAuthority()
        let index = RootIndex([authority.root.der, [0x30, 0x00], []])
        var store = RootStore(index: index)
        let subject = authority.root.certificate.subject
        #expect(await store[subject] == [authority.root.certificate])
        #expect(await !store.contains(namesake.root.certificate))
        store.append(contentsOf: [namesake.root.certificate, authority.intermediate.certificate])
        #expect(await store[subject] == [authority.root.certificate, namesake.root.certificate])
        #expect(await store.contains(namesake.root.certificate))
        #expect(await store[authority.intermediate.certificate.subject] == [authority.intermediate.certificate])
        #expect(store != RootStore(index: index))
    }

    @Test func `the system's own bundle is indexed as a whole`() throws {
        let path = "/etc/ssl/certs/ca-certificates.crt"
        guard let bytes = try? FileBytes.read(path) else { return }
        let encoded = try CertificateFile.blocks(in: bytes, of: path).map(\.derBytes)
        let index = RootIndex(encoded)
        for certificate in encoded.compactMap({ try? Certificate(derEncoded: $0) }) {
            #expect(index.roots(certificate.subject).contains(certificate))
            let key = try certificate.publicKey.serializeAsPEM().derBytes
            #expect(CertificateFields(certificate.encoded)?.publicKeyInfo == key[...])
        }
    }

    @Test func `the error for a system without roots says what to do`() throws {
        let error = #expect(throws: HTTPError.self) { try SystemRoots.load(from: ["/absent.crt"]).get() }
        #expect(error?.code == .certificateUntrusted)
        #expect(error?.reason.contains("looked for in /absent.crt: install ca-certificates") == true)
    }
}
