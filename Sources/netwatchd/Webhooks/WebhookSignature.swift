import Crypto
import FoundationEssentials

/// Signatures by the fields of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 over id, time and body.
enum WebhookSignature {
    /// Returns the value of `webhook-signature`.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - id: The value of `webhook-id`.
    ///   - timestamp: The value of `webhook-timestamp`, in seconds since 1970.
    ///   - secret: The key.
    /// - Returns: The value: a version and the signature in Base64.
    static func value(of body: [UInt8], id: String, timestamp: Int64, secret: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: secret))
        return "v1," + Data(code).base64EncodedString()
    }

    /// Reads the key from the contents of its file: `whsec_` and 24 to 64 bytes in Base64.
    static func secret(in contents: [UInt8]) throws(ConfigurationError) -> [UInt8] {
        let text = String(decoding: contents, as: UTF8.self).filter { !$0.isWhitespace }
        let prefix = "whsec_"
        guard text.hasPrefix(prefix), let secret = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            (24...64).contains(secret.count)
        else {
            throw .init("secretFile: the file does not have 'whsec_' and 24 to 64 bytes in Base64")
        }
        return Array(secret)
    }
}
