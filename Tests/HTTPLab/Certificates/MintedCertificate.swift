import Crypto
import FoundationEssentials
import NetworkLab
import ReachabilityCore
import SwiftASN1
package import X509

/// A certificate with its key, made on the spot.
package struct MintedCertificate: Sendable {
    /// The certificate.
    package let certificate: Certificate
    /// Its key, on P-256 unless another was asked for.
    package let key: Certificate.PrivateKey

    /// The certificate in DER.
    package let der: [UInt8]
    /// The certificate in PEM, with a line's end.
    package let pem: String
    /// Its key in PEM, with a line's end.
    package let keyPEM: String
    /// Its public key in PEM, with a line's end.
    package let publicKeyPEM: String
    /// Its key as pins have it: `sha256/BASE64`.
    package let pin: String

    /// Mints one, signed by its issuer; by itself, without one.
    package init(_ request: CertificateRequest, by issuer: MintedCertificate? = nil) throws {
        key = request.key ?? Certificate.PrivateKey(P256.Signing.PrivateKey())
        let subject = try DistinguishedName { CommonName(request.subject) }
        let (start, end) = request.validity.dates
        certificate = try Certificate(
            version: request.isVersion1 ? .v1 : .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: start,
            notValidAfter: end,
            issuer: issuer?.certificate.subject ?? subject,
            subject: subject,
            extensions: request.isVersion1 ? .init() : request.extensions(key: key.publicKey, issuer: issuer),
            issuerPrivateKey: issuer?.key ?? key
        )
        let document = try certificate.serializeAsPEM()
        der = document.derBytes
        pem = document.pemString + "\n"
        keyPEM = try key.serializeAsPEM().pemString + "\n"
        let publicKey = try key.publicKey.serializeAsPEM()
        publicKeyPEM = publicKey.pemString + "\n"
        pin = "sha256/" + Data(SHA256.hash(data: publicKey.derBytes)).base64EncodedString()
    }
}

extension CertificateRequest.Validity {
    fileprivate var dates: (start: Date, end: Date) {
        let day: TimeInterval = 86_400
        let now = Date()
        return switch self {
        case .now: (now - day, now + 365 * day)
        case .expired: (now - 30 * day, now - day)
        case .notYet: (now + day, now + 30 * day)
        }
    }
}

extension CertificateRequest {
    fileprivate func extensions(
        key: Certificate.PublicKey,
        issuer: MintedCertificate?
    ) throws -> Certificate.Extensions {
        let addresses = try addresses.map(Self.octets).map(GeneralName.ipAddress)
        let alternatives = names.map(GeneralName.dnsName) + addresses
        return try Certificate.Extensions {
            Critical(isAuthority ? .isCertificateAuthority(maxPathLength: pathLength) : BasicConstraints.notAuthority)
            Critical(KeyUsage(digitalSignature: !isAuthority, keyCertSign: isAuthority, cRLSign: isAuthority))
            if !permittedNames.isEmpty || !excludedNames.isEmpty {
                Critical(
                    NameConstraints(
                        permittedDNSDomains: permittedNames,
                        excludedDNSDomains: excludedNames
                    )
                )
            }
            SubjectKeyIdentifier(hash: key)
            if let issuer {
                AuthorityKeyIdentifier(keyIdentifier: SubjectKeyIdentifier(hash: issuer.key.publicKey).keyIdentifier)
            }
            if !usages.isEmpty, !isAuthority {
                let usage = try ExtendedKeyUsage(usages)
                if areUsagesCritical { Critical(usage) } else { usage }
            }
            if !alternatives.isEmpty { SubjectAlternativeNames(alternatives) }
        }
    }

    private static func octets(_ text: String) throws -> ASN1OctetString {
        guard let address = IPAddress(text) else { throw LabError("read the address \(text)", errno: 22) }
        let count = address.family == .ipv4 ? 4 : 16
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: address.bits >> (120 - 8 * UInt128($0))) }
        return ASN1OctetString(contentBytes: bytes[...])
    }
}

extension BasicConstraints {
    fileprivate static var notAuthority: Self { .notCertificateAuthority }
}
