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
