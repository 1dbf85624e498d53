import SwiftASN1
import X509

/// Reads certificates out of bytes that are PEM or DER, whichever the extension of their file promises.
enum CertificateFile {
    /// The certificates of a file, in DER; at least one.
    static func certificates(ofFile path: String) throws(HTTPError) -> [[UInt8]] {
        try certificates(in: FileBytes.read(path), of: path)
    }

    /// The certificates of these bytes, in DER; at least one.
    ///
    /// `source` names the bytes in errors.
    static func certificates(in bytes: [UInt8], of source: String) throws(HTTPError) -> [[UInt8]] {
        let found = try blocks(in: bytes, of: source).filter { $0.isCertificate }.map(\.derBytes)
        guard !found.isEmpty else { throw .badCertificate("\(source) holds no certificate: \(expected)") }
        for certificate in found { try check(certificate, of: source) }
        return found
    }

    /// What these bytes hold: PEM's blocks, or one certificate in DER.
    static func blocks(in bytes: [UInt8], of source: String) throws(HTTPError) -> [PEMDocument] {
        guard !bytes.isEmpty else { throw .badCertificate("\(source) is empty: \(expected)") }
        guard bytes.first != sequenceTag else { return [PEMDocument(type: "CERTIFICATE", derBytes: bytes)] }
        do {
            return try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .badCertificate("\(source) is neither PEM nor DER: \(expected)", cause: error)
        }
    }

    /// Throws unless the bytes are a certificate that can be used.
    static func check(_ der: [UInt8], of source: String) throws(HTTPError) {
        do {
            _ = try Certificate(derEncoded: der)
        } catch {
            throw .badCertificate("a certificate of \(source) can't be read: \(expected)", cause: error)
        }
    }

    /// What DER's certificates and keys begin with, and no text does.
    private static let sequenceTag: UInt8 = 0x30
    private static let expected = "give certificates as PEM (-----BEGIN CERTIFICATE-----) or one as DER"
}

extension PEMDocument {
    /// Whether this is a certificate, by the name of today or by the old one.
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE"].contains(discriminator) }
}

extension HTTPError {
    /// A certificate, a key or a pin of the configuration can't be used.
    static func badCertificate(_ reason: String, cause: (any Error)? = nil) -> HTTPError {
        HTTPError(.invalidConfiguration, .neverSent, reason, cause: cause)
    }
}
