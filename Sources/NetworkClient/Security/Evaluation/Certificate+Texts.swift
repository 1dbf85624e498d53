import FoundationEssentials
import SwiftASN1
import X509

extension Certificate {
    /// The certificate in DER; empty if it can't be written, which none can that was read.
    var encoded: [UInt8] {
        var serializer = DER.Serializer()
        do { try serializer.serialize(self) } catch { return [] }
        return serializer.serializedBytes
    }

    /// The hash of its public key, as pins have it.
    var keyHash: [UInt8]? { PublicKeyInfo.hash(ofCertificate: encoded) }

    /// Whether it names itself its issuer.
    var isSelfIssued: Bool { issuer == subject }

    /// Whether its own key has signed it.
    var isSelfSigned: Bool { isSelfIssued && publicKey.isValidSignature(signature, for: self) }

    /// Whom the certificate is about, for people.
    var subjectText: String { subject.isEmpty ? "the certificate without a subject" : subject.text }

    /// The names and addresses of the certificate's subjectAltName, for people; empty if it has none.
    var namesText: String {
        let names = (try? extensions.subjectAlternativeNames) ?? SubjectAlternativeNames()
        let texts = names.prefix(8).map(\.text)
        return texts.joined(separator: ", ") + (names.count > 8 ? " and \(names.count - 8) more" : "")
    }
}

extension DistinguishedName {
    /// The name in a form for people, with nothing in it that would disturb a terminal or a log.
    var text: String { description.printable }
}

extension GeneralName {
    /// A host's name or an address as people write it.
    var text: String {
        switch self {
        case .dnsName(let name): name.printable
        case .ipAddress(let octets): ServerName.text(ofAddress: octets.bytes)
        default: String(describing: self).printable
        }
    }
}

extension String {
    /// The text on one line and of bounded length, with nothing in it that would disturb a terminal or a log.
    var printable: String {
        let safe = unicodeScalars.prefix(160).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                || scalar.properties.generalCategory == .lineSeparator
                || scalar.properties.generalCategory == .paragraphSeparator ? "?" : Character(scalar)
        }
        return String(safe) + (unicodeScalars.count > 160 ? "..." : "")
    }
}

extension Date {
    /// The date in UTC, as in `2026-11-21T09:00:00Z`.
    var text: String { ISO8601Format() }
}
