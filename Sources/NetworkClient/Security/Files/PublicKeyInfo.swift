import Crypto
import SwiftASN1

/// A certificate's public key as pins know it.
enum PublicKeyInfo {
    /// The SHA-256 of the key of a certificate in DER: of its SubjectPublicKeyInfo exactly as it is encoded there
    /// (RFC 7469, section 2.4); nil if the bytes are no certificate.
    static func hash(ofCertificate der: [UInt8]) -> [UInt8]? {
        encoded(inCertificate: der).map { Array(SHA256.hash(data: $0)) }
    }

    /// The key's SubjectPublicKeyInfo within a certificate, RFC 5280, section 4.1.
    static func encoded(inCertificate der: [UInt8]) -> ArraySlice<UInt8>? {
        guard let certificate = try? DER.parse(der), var fields = children(of: certificate)?.makeIterator(),
            let toBeSigned = fields.next(), let parts = children(of: toBeSigned)
        else { return nil }
        let first = parts.first?.identifier == versionIdentifier ? 1 : 0
        let index = first + 5
        return parts.indices.contains(index) ? parts[index].encodedBytes : nil
    }

    private static func children(of node: ASN1Node) -> [ASN1Node]? {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else { return nil }
        return Array(nodes)
    }

    /// The version is there only if it is not the first.
    private static let versionIdentifier = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}
