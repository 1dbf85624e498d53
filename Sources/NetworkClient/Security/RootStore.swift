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
