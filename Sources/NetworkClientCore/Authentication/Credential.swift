/// A user name and a password.
///
/// No description reveals them, neither in logs nor in a debugger.
public struct Credential: Sendable, Hashable {
    /// The user's name.
    public let user: String
    /// The password.
    public let password: String

    /// Creates a credential.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text that reveals neither value.
    public var description: String { "Credential(hidden)" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Credential {
    /// Whether the credential has control characters, which a field's value can't contain (RFC 7617, 2; RFC 9110, 5.5).
    var hasControlCharacters: Bool {
        (user + password).utf8.contains { $0.isASCIIControl }
    }
}

/// Credentials of the scheme Basic (RFC 7617).
package enum BasicAuthorization {
    /// Returns the field's value; nil if Basic can't represent the credential: a user name with a colon, or control
    /// characters.
    ///
    /// User name and password are encoded as UTF-8. A server can require that with `charset`, and most others accept
    /// it.
    package static func value(_ credential: Credential) -> String? {
        guard !credential.user.utf8.contains(UInt8(ascii: ":")), !credential.hasControlCharacters else { return nil }
        return "Basic " + Base64.encoded(Array("\(credential.user):\(credential.password)".utf8))
    }
}

/// Base64 (RFC 4648, 4).
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encoded(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let number = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << (UInt32(3 - group.count) * 8)
            for index in 0..<4 {
                let digit = digits[Int(number >> (18 - UInt32(index) * 6) & 63)]
                text.append(index <= group.count ? digit : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
