import Crypto
import FoundationEssentials
import SwiftASN1

extension Pin {
    /// Pins a public key by the SHA-256 of its SubjectPublicKeyInfo, as `sha256/BASE64`.
    ///
    /// curl's `sha256//BASE64` is taken too. The hash of a certificate's key is what
    /// `openssl x509 -pubkey -noout -in FILE | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`
    /// prints, and what the error of a pin that does not match lists. Throws ``HTTPError/Code/invalidConfiguration`` if
    /// the text is nothing of that kind.
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

    /// All pins of some bytes; at least one.
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

    /// The only one of some pins.
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

    /// A hash as pins are written.
    static func text(ofHash hash: [UInt8]) -> String { "sha256/" + Data(hash).base64EncodedString() }
}
