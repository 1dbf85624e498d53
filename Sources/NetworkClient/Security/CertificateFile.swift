import Crypto
import Glibc
import SwiftASN1
import X509

/// Reads certificates from bytes in PEM or DER, which are detected by content rather than by file name extension.
enum CertificateFile {
    /// Returns the certificates in a file, in DER; at least one.
    static func certificates(ofFile path: String) throws(HTTPError) -> [[UInt8]] {
        try certificates(in: FileBytes.read(path), of: path)
    }

    /// Returns the certificates in the bytes, in DER; at least one.
    ///
    /// `source` names the bytes in errors.
    static func certificates(in bytes: [UInt8], of source: String) throws(HTTPError) -> [[UInt8]] {
        let found = try blocks(in: bytes, of: source).filter { $0.isCertificate }.map(\.derBytes)
        guard !found.isEmpty else { throw .badCertificate("\(source) holds no certificate: \(expected)") }
        for certificate in found { try check(certificate, of: source) }
        return found
    }

    /// Returns the PEM blocks in the bytes, or one certificate in DER.
    static func blocks(in bytes: [UInt8], of source: String) throws(HTTPError) -> [PEMDocument] {
        guard !bytes.isEmpty else { throw .badCertificate("\(source) is empty: \(expected)") }
        guard bytes.first != sequenceTag else { return [PEMDocument(type: "CERTIFICATE", derBytes: bytes)] }
        do {
            return try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw .badCertificate("\(source) is neither PEM nor DER: \(expected)", cause: error)
        }
    }

    /// Throws an error unless the bytes are a supported certificate.
    static func check(_ der: [UInt8], of source: String) throws(HTTPError) {
        do {
            _ = try Certificate(derEncoded: der)
        } catch {
            throw .badCertificate("a certificate of \(source) can't be read: \(expected)", cause: error)
        }
    }

    /// The first byte of certificates and keys in DER, with which no text begins.
    private static let sequenceTag: UInt8 = 0x30
    private static let expected = "give certificates as PEM (-----BEGIN CERTIFICATE-----) or one as DER"
}

extension PEMDocument {
    /// Whether this is a certificate, by its current or its former label.
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE"].contains(discriminator) }
}

extension HTTPError {
    /// The error for a certificate, a key or a pin in the configuration that can't be used.
    static func badCertificate(_ reason: String, cause: (any Error)? = nil) -> HTTPError {
        HTTPError(.invalidConfiguration, processing: .neverSent, reason: reason, cause: cause)
    }
}

/// The fields of a certificate in DER, found without parsing the whole certificate (RFC 5280, section 4.1; X.690).
///
/// This avoids parsing the keys and extensions of hundreds of roots of which only one is needed.
struct CertificateFields {
    /// The subject's distinguished name, encoded.
    let subject: ArraySlice<UInt8>
    /// The SubjectPublicKeyInfo, encoded.
    let publicKeyInfo: ArraySlice<UInt8>

    /// Returns nil unless the bytes have the structure of a certificate.
    init?(_ der: [UInt8]) {
        guard let certificate = Element(der[...]), certificate.tag == Element.sequence,
            let toBeSigned = Element(certificate.content), toBeSigned.tag == Element.sequence
        else { return nil }
        // After the optional version: serial number, signature, issuer, validity, subject, key.
        var fields: [ArraySlice<UInt8>] = []
        var rest = toBeSigned.content
        while fields.count < 6 {
            guard let field = Element(rest) else { return nil }
            rest = rest[field.encoded.endIndex...]
            if fields.isEmpty, field.tag == Element.version { continue }
            fields.append(field.encoded)
        }
        subject = fields[4]
        publicKeyInfo = fields[5]
    }
}

/// The first DER element in some bytes: a tag, a length, and the contents.
private struct Element {
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xA0

    let tag: UInt8
    let encoded: ArraySlice<UInt8>
    let content: ArraySlice<UInt8>

    /// Returns nil if the bytes end before the element does, or its length is encoded in more than four bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard (1...4).contains(count), rest.count >= count else { return nil }
            length = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(count)
        }
        guard rest.count >= length else { return nil }
        self.tag = tag
        content = rest.prefix(length)
        encoded = bytes[bytes.startIndex..<content.endIndex]
    }
}

/// Reads small files, such as certificates, keys and passwords.
enum FileBytes {
    /// The maximum size of a file in bytes, far larger than any bundle of certificates.
    static let limit = 16 << 20

    /// Returns the bytes of a file, which must be smaller than ``limit``.
    static func read(_ path: String) throws(HTTPError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let part = try readPart(of: descriptor, path)
            guard !part.isEmpty else { return bytes }
            bytes += part
            guard bytes.count <= limit else {
                throw .badCertificate("\(path) is larger than 16 MiB, which no file of certificates or passwords is")
            }
        }
    }

    /// Returns the next bytes; none at the end of the file.
    private static func readPart(of descriptor: Int32, _ path: String) throws(HTTPError) -> [UInt8] {
        var problem: Int32 = 0
        let part = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            var result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            while result < 0, errno == EINTR { result = Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
            if result < 0 { problem = errno }
            count = max(result, 0)
        }
        guard problem == 0 else { throw unreadable(path, problem) }
        return part
    }

    static func unreadable(_ path: String, _ number: Int32) -> HTTPError {
        let words = strerror(number).map { String(cString: $0) } ?? "error \(number)"
        return HTTPError(
            .invalidConfiguration,
            processing: .neverSent,
            reason: "\(path) can't be read: \(words)",
            errno: number
        )
    }
}

/// Reads the names of the files in a folder.
enum FolderNames {
    /// Returns the names in the order of their bytes.
    ///
    /// - Throws: `invalidConfiguration` if the folder can't be read.
    static func read(_ path: String) throws(HTTPError) -> [String] {
        guard let folder = opendir(path) else { throw FileBytes.unreadable(path, errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            guard entry.pointee.d_type != DT_DIR else { continue }
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            )
        }
        return names.sorted()
    }

    /// Returns whether a name has one of the extensions of certificates.
    static func isCertificate(_ name: String) -> Bool {
        [".cer", ".crt", ".der", ".pem"].contains { name.lowercased().hasSuffix($0) }
    }
}

/// A certificate's public key, as used for pinning.
enum PublicKeyInfo {
    /// Returns the SHA-256 of the SubjectPublicKeyInfo of a certificate in DER, exactly as it is encoded there (RFC
    /// 7469, section 2.4); nil if the bytes are not a certificate.
    static func hash(ofCertificate der: [UInt8]) -> [UInt8]? {
        CertificateFields(der).map { Array(SHA256.hash(data: $0.publicKeyInfo)) }
    }
}
