import Glibc
import Locking
import SwiftASN1
import X509

/// A bundle of root certificates, indexed by subject; a root is parsed only when a chain needs it.
///
/// Parsing all of a system's 140 roots takes more than twice as long as indexing them, and a handshake needs one.
final class RootIndex: Sendable {
    private let encoded: [DistinguishedName: [[UInt8]]]
    private let read = Lock<[DistinguishedName: [Certificate]]>([:])

    /// Makes an index of certificates in DER; invalid ones are left out.
    init(_ certificates: [[UInt8]]) {
        encoded = certificates.reduce(into: [:]) { index, der in
            guard let subject = CertificateFields(der)?.subject,
                let name = try? Self.name(DER.parse(subject))
            else { return }
            index[name, default: []].append(der)
        }
    }

    /// Parses a name.
    ///
    /// The type is written out, because otherwise the compiler selects a deprecated initializer.
    private static let name: @Sendable (ASN1Node) throws -> DistinguishedName = DistinguishedName.init(derEncoded:)

    /// Whether there are no roots.
    var isEmpty: Bool { encoded.isEmpty }

    /// Returns the roots with a subject, as far as they can be parsed.
    func roots(_ subject: DistinguishedName) -> [Certificate] {
        guard let found = encoded[subject] else { return [] }
        return read.withLock { read in
            if let roots = read[subject] { return roots }
            let roots = found.compactMap { try? Certificate(derEncoded: $0) }
            read[subject] = roots
            return roots
        }
    }
}

/// The roots of an index, and additional ones.
struct RootStore: CustomCertificateStore {
    let index: RootIndex
    private var added: [DistinguishedName: [Certificate]] = [:]

    init(index: RootIndex) { self.index = index }

    subscript(subject: DistinguishedName) -> [Certificate]? {
        get async {
            let roots = index.roots(subject) + (added[subject] ?? [])
            return roots.isEmpty ? nil : roots
        }
    }

    func contains(_ certificate: Certificate) async -> Bool {
        await self[certificate.subject]?.contains(certificate) ?? false
    }

    mutating func append(contentsOf certificates: some Sequence<Certificate>) {
        for certificate in certificates { added[certificate.subject, default: []].append(certificate) }
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.index === rhs.index && lhs.added == rhs.added }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(index))
        hasher.combine(added)
    }
}

/// The system's roots, loaded once per process when a chain is first validated against them.
enum SystemRoots {
    /// The roots, or the error if there are none.
    static let shared: Result<CertificateStore, HTTPError> = load(
        from: getenv("SSL_CERT_FILE").map { [String(cString: $0)] } ?? places
    )

    /// The bundles of the distributions: Debian, Ubuntu, Arch and Alpine; Fedora; openSUSE.
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    ]

    /// Loads the first bundle that exists.
    ///
    /// A certificate that can't be parsed, for example because of its kind of key, does not invalidate the others.
    static func load(from paths: [String]) -> Result<CertificateStore, HTTPError> {
        for path in paths {
            guard let bytes = try? FileBytes.read(path),
                let blocks = try? CertificateFile.blocks(in: bytes, of: path)
            else { continue }
            let index = RootIndex(blocks.map(\.derBytes))
            if !index.isEmpty { return .success(CertificateStore(custom: RootStore(index: index))) }
        }
        return .failure(
            HTTPError(
                .certificateUntrusted,
                processing: .neverSent,
                reason: "the system has no trusted roots, looked for in \(paths.joined(separator: ", ")): "
                    + "install ca-certificates, set SSL_CERT_FILE, or give the roots"
            )
        )
    }
}

/// The root certificates that servers' chains must lead to.
public struct TrustRoots: Sendable, Hashable {
    /// Whether the system's roots are included.
    var includesSystem: Bool
    /// Additional certificates, in DER.
    var certificates: [[UInt8]]

    /// The system's roots: the file that SSL_CERT_FILE names, or else the distribution's bundle.
    public static let system = Self(includesSystem: true, certificates: [])

    /// Returns the system's roots, and the certificates in a PEM text or of one in DER.
    public static func system(adding bytes: [UInt8]) throws(HTTPError) -> Self {
        Self(includesSystem: true, certificates: try CertificateFile.certificates(in: bytes, of: "the added roots"))
    }

    /// Returns the system's roots, and the certificates in a file in PEM or DER.
    public static func system(addingFile path: String) throws(HTTPError) -> Self {
        Self(includesSystem: true, certificates: try CertificateFile.certificates(ofFile: path))
    }

    /// Returns only the certificates in a PEM text or of one in DER.
    public static func only(_ bytes: [UInt8]) throws(HTTPError) -> Self {
        Self(includesSystem: false, certificates: try CertificateFile.certificates(in: bytes, of: "the roots"))
    }

    /// Returns only the certificates in a file in PEM or DER.
    public static func only(file path: String) throws(HTTPError) -> Self {
        Self(includesSystem: false, certificates: try CertificateFile.certificates(ofFile: path))
    }
}

/// The certificates in which a valid path may end.
struct Anchors: Sendable {
    /// All anchors, indexed by subject.
    var store: CertificateStore
    /// The anchors that were named one by one: a server may use such a certificate as its own, whether it is a CA or
    /// not.
    var named: [Certificate]

    /// Makes anchors of certificates that were named one by one.
    init(_ certificates: [Certificate]) {
        store = CertificateStore(certificates)
        named = certificates
    }

    /// Makes anchors of certificates that were named one by one, in addition to the system's.
    init(_ certificates: [Certificate], additionalTo system: CertificateStore) {
        store = system.appending(contentsOf: certificates)
        named = certificates
    }
}
