import Crypto
import FoundationEssentials
import SwiftASN1

/// A certificate or a public key that a server's chain must contain.
public struct Pin: Sendable, Hashable {
    /// The certificate in DER; nil if the pin is a key.
    let certificate: [UInt8]?
    /// The SHA-256 of the SubjectPublicKeyInfo.
    let keyHash: [UInt8]

    /// Pins a certificate in DER.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if it can't be read.
    public init(der: [UInt8]) throws(HTTPError) {
        try self.init(der: der, of: "the pin")
    }

    /// Pins the certificate or the public key in a PEM text.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the text contains none, or several; for several, see
    ///   ``pins(inPEM:)``.
    public init(pem: String) throws(HTTPError) {
        self = try Self.single(Self.pins(in: Array(pem.utf8), of: "the pin"), of: "the pin")
    }

    /// Pins the certificate or the public key in a file in PEM or DER, whatever its extension.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the file can't be read, or contains none, or several; for
    ///   several, see ``pins(inFile:)``.
    public init(file path: String) throws(HTTPError) {
        self = try Self.single(Self.pins(inFile: path), of: path)
    }

    /// Returns pins for all certificates and public keys in a PEM text.
    public static func pins(inPEM text: String) throws(HTTPError) -> [Pin] {
        try pins(in: Array(text.utf8), of: "the text")
    }

    /// Returns pins for all certificates and public keys in a PEM file, or for the one in a DER file.
    public static func pins(inFile path: String) throws(HTTPError) -> [Pin] {
        try pins(in: FileBytes.read(path), of: path)
    }

    /// Returns pins for all certificates and public keys in the files of a folder.
    ///
    /// The files are those named `*.cer`, `*.crt`, `*.der` and `*.pem`, in upper or lower case, each in PEM or DER. Others,
    /// and folders in it, are ignored.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the folder has no such file, or it or one of the files can't be
    ///   read.
    public static func pins(inFolder path: String) throws(HTTPError) -> [Pin] {
        var pins: [Pin] = []
        for name in try FolderNames.read(path) where FolderNames.isCertificate(name) {
            pins += try Pin.pins(inFile: "\(path)/\(name)")
        }
        guard !pins.isEmpty else {
            throw .badCertificate("\(path) holds no file to pin: give a folder of *.cer, *.crt, *.der or *.pem files")
        }
        return pins
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

extension Pin {
    /// Pins a public key by the SHA-256 of its SubjectPublicKeyInfo, as `sha256/BASE64`.
    ///
    /// curl's `sha256//BASE64` is accepted too. To print the hash of a certificate's key, run `openssl x509 -pubkey
    /// -noout -in FILE | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`; the error of a pin
    /// that does not match lists the hashes too.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the text has neither form.
    public init(_ text: String) throws(HTTPError) {
        let prefix = "sha256/"
        guard text.hasPrefix(prefix) else {
            throw .badCertificate("the pin \"\(text)\" is not of the form sha256/BASE64")
        }
        var digits = text.dropFirst(prefix.count)
        if digits.first == "/", digits.count == 45 { digits = digits.dropFirst() }
        guard let bytes = Data(base64Encoded: String(digits)), bytes.count == SHA256.byteCount else {
            throw .badCertificate(
                "the pin \"\(text)\" does not hold the 32 bytes of a SHA-256 in base64, which are 44 characters"
            )
        }
        self.init(keyHash: Array(bytes))
    }

    /// Returns all pins in some bytes; at least one.
    static func pins(in bytes: [UInt8], of source: String) throws(HTTPError) -> [Pin] {
        var pins: [Pin] = []
        for block in try CertificateFile.blocks(in: bytes, of: source) {
            if block.isCertificate {
                pins.append(try Pin(der: block.derBytes, of: source))
            } else if block.discriminator == "PUBLIC KEY" {
                pins.append(Pin(keyHash: Array(SHA256.hash(data: block.derBytes))))
            }
        }
        guard !pins.isEmpty else {
            throw .badCertificate("\(source) holds no certificate and no public key to pin")
        }
        return pins
    }

    /// Returns the only pin of an array.
    static func single(_ pins: [Pin], of source: String) throws(HTTPError) -> Pin {
        guard let pin = pins.first, pins.count == 1 else {
            throw .badCertificate("\(source) holds \(pins.count) pins where one is expected: use Pin.pins(in…)")
        }
        return pin
    }
}

extension Pin: CustomStringConvertible {
    /// The hash of the key, as `sha256/BASE64`.
    public var description: String { Self.text(ofHash: keyHash) }

    /// Returns the text form of a hash.
    static func text(ofHash hash: [UInt8]) -> String { "sha256/" + Data(hash).base64EncodedString() }
}
