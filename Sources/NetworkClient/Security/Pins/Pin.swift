/// A certificate or a public key of which a server's chain has to have one.
public struct Pin: Sendable, Hashable {
    /// The certificate in DER, if the pin is one.
    let certificate: [UInt8]?
    /// The SHA-256 of its SubjectPublicKeyInfo, or of the pinned one.
    let keyHash: [UInt8]

    /// Pins a certificate given in DER.
    ///
    /// Throws ``HTTPError/Code/invalidConfiguration`` if it can't be read.
    public init(der: [UInt8]) throws(HTTPError) {
        try self.init(der: der, of: "the pin")
    }

    /// Pins the certificate, or the public key, that a text in PEM holds.
    ///
    /// Throws ``HTTPError/Code/invalidConfiguration`` if it holds none, or several; for several, see
    /// ``pins(inPEM:)``.
    public init(pem: String) throws(HTTPError) {
        self = try Self.single(Self.pins(in: Array(pem.utf8), of: "the pin"), of: "the pin")
    }

    /// Pins the certificate, or the public key, of a file in PEM or DER, whatever its extension.
    ///
    /// Throws ``HTTPError/Code/invalidConfiguration`` if it can't be read, holds none, or several; for several, see
    /// ``pins(inFile:)``.
    public init(file path: String) throws(HTTPError) {
        self = try Self.single(Self.pins(inFile: path), of: path)
    }

    /// All certificates and public keys of a text in PEM.
    public static func pins(inPEM text: String) throws(HTTPError) -> [Pin] {
        try pins(in: Array(text.utf8), of: "the text")
    }

    /// All certificates and public keys of a file in PEM, or the one of a file in DER.
    public static func pins(inFile path: String) throws(HTTPError) -> [Pin] {
        try pins(in: FileBytes.read(path), of: path)
    }

    init(der: [UInt8], of source: String) throws(HTTPError) {
        try CertificateFile.check(der, of: source)
        guard let hash = PublicKeyInfo.hash(ofCertificate: der) else {
            throw .badCertificate("a certificate of \(source) has no public key that can be read")
        }
        certificate = der
        keyHash = hash
    }

    init(keyHash: [UInt8]) {
        certificate = nil
        self.keyHash = keyHash
    }
}
