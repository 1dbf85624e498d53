import Glibc
import Locking
import SwiftASN1
import X509

/// A bundle of roots by their subjects, of which only those are read that a chain asks for.
///
/// To read all of a system's 140 takes more than twice as long as to index them, and a handshake needs one.
final class RootIndex: Sendable {
    private let encoded: [DistinguishedName: [[UInt8]]]
    private let read = Lock<[DistinguishedName: [Certificate]]>([:])

    /// Takes certificates in DER, and leaves out what is none.
    init(_ certificates: [[UInt8]]) {
        encoded = certificates.reduce(into: [:]) { index, der in
            guard let subject = CertificateFields(der)?.subject,
                let name = try? Self.name(DER.parse(subject))
            else { return }
            index[name, default: []].append(der)
        }
    }

    /// Reads a name; the compiler would take a deprecated initializer if this one's type were not written out.
    private static let name: @Sendable (ASN1Node) throws -> DistinguishedName = DistinguishedName.init(derEncoded:)

    /// Whether there is not one.
    var isEmpty: Bool { encoded.isEmpty }

    /// The roots with this subject that can be read.
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

/// The roots of an index, and others beside them.
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

/// The system's roots, read once per process when the first chain has to lead to them.
enum SystemRoots {
    /// The roots, or why there are none.
    static let shared: Result<CertificateStore, HTTPError> = load(
        from: getenv("SSL_CERT_FILE").map { [String(cString: $0)] } ?? places
    )

    /// Where distributions keep their bundle: Debian, Ubuntu, Arch and Alpine; Fedora; openSUSE.
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    ]

    /// Reads the first bundle that there is.
    ///
    /// A certificate that can't be read, because its key is of an unusual kind, does not take the others with it.
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
                .neverSent,
                "the system has no trusted roots, looked for in \(paths.joined(separator: ", ")): "
                    + "install ca-certificates, set SSL_CERT_FILE, or give the roots"
            )
        )
    }
}

/// The roots that the chains of servers have to lead to.
public struct TrustRoots: Sendable, Hashable {
    /// Whether the system's count.
    var includesSystem: Bool
    /// Certificates beside them, in DER.
    var certificates: [[UInt8]]

    /// The system's: the file that SSL_CERT_FILE names, or else the distribution's bundle.
    public static let system = Self(includesSystem: true, certificates: [])

    /// The system's, and the certificates that a text in PEM or the bytes of one in DER hold.
    public static func system(adding bytes: [UInt8]) throws(HTTPError) -> Self {
        Self(includesSystem: true, certificates: try CertificateFile.certificates(in: bytes, of: "the added roots"))
    }

    /// The system's, and the certificates of a file in PEM or DER.
    public static func system(addingFile path: String) throws(HTTPError) -> Self {
        Self(includesSystem: true, certificates: try CertificateFile.certificates(ofFile: path))
    }

    /// Only the certificates that a text in PEM or the bytes of one in DER hold.
    public static func only(_ bytes: [UInt8]) throws(HTTPError) -> Self {
        Self(includesSystem: false, certificates: try CertificateFile.certificates(in: bytes, of: "the roots"))
    }

    /// Only the certificates of a file in PEM or DER.
    public static func only(file path: String) throws(HTTPError) -> Self {
        Self(includesSystem: false, certificates: try CertificateFile.certificates(ofFile: path))
    }
}

/// The certificates that a chain may end in.
struct Anchors: Sendable {
    /// Those that a search finds by their subjects.
    var store: CertificateStore
    /// Those of them that somebody named one by one: a server may have such a one for its own, authority or not.
    var named: [Certificate]

    /// Anchors that somebody named.
    init(_ certificates: [Certificate]) {
        store = CertificateStore(certificates)
        named = certificates
    }

    /// Anchors that somebody named, with the system's beside them.
    init(_ certificates: [Certificate], beside system: CertificateStore) {
        store = system.appending(contentsOf: certificates)
        named = certificates
    }
}
