import Crypto

/// A certificate's public key as pins know it.
enum PublicKeyInfo {
    /// The SHA-256 of the key of a certificate in DER: of its SubjectPublicKeyInfo exactly as it is encoded there
    /// (RFC 7469, section 2.4); nil if the bytes are no certificate.
    static func hash(ofCertificate der: [UInt8]) -> [UInt8]? {
        CertificateFields(der).map { Array(SHA256.hash(data: $0.publicKeyInfo)) }
    }
}
