/// The hash functions that Digest needs, handed in: a pure target has none.
public struct DigestHashes: Sendable {
    /// A hash function: from bytes to bytes.
    public typealias Function = @Sendable (_ bytes: [UInt8]) -> [UInt8]

    /// MD5 (RFC 1321), which most servers know alone.
    public let md5: Function
    /// SHA-256 (FIPS 180-4).
    public let sha256: Function

    /// Takes the functions.
    public init(md5: @escaping Function, sha256: @escaping Function) {
        self.md5 = md5
        self.sha256 = sha256
    }
}

/// A hash function of Digest's (RFC 7616, 6.1), the weaker ones first.
public enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable, Comparable {
    /// MD5.
    case md5 = "MD5"
    /// SHA-256.
    case sha256 = "SHA-256"

    /// Whether the first is the weaker one.
    public static func < (first: Self, second: Self) -> Bool { first == .md5 && second == .sha256 }

    /// The hash of a text, in hexadecimal digits.
    func hash(_ text: String, by hashes: DigestHashes) -> String { hash(Array(text.utf8), by: hashes) }

    /// The hash of bytes, in hexadecimal digits.
    func hash(_ bytes: [UInt8], by hashes: DigestHashes) -> String {
        let hash = self == .md5 ? hashes.md5(bytes) : hashes.sha256(bytes)
        return hash.reduce(into: "") { text, byte in
            if byte < 16 { text += "0" }
            text += String(byte, radix: 16)
        }
    }
}
