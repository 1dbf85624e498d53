import Crypto

extension DigestHashes {
    /// The functions of swift-crypto.
    static let crypto = Self(
        md5: { Array(Insecure.MD5.hash(data: $0)) },
        sha256: { Array(SHA256.hash(data: $0)) }
    )
}

/// What a client mixes into its answers, so that no server can choose all that is hashed (RFC 7616, 3.4).
enum ClientNonce {
    /// 128 random bits in hexadecimal digits.
    static var random: String {
        [UInt64.random(in: 0 ... .max), .random(in: 0 ... .max)].map { String($0, radix: 16) }.joined(separator: "-")
    }
}
