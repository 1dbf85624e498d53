/// A user and a password.
///
/// Neither is shown by any description: not in logs, not in a debugger's dump.
public struct Credential: Sendable, Hashable {
    /// The user's name.
    public let user: String
    /// The password.
    public let password: String

    /// Makes a credential.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says that it is one, and nothing of what is in it.
    public var description: String { "Credential(hidden)" }
    /// As ``description``.
    public var debugDescription: String { description }
    /// Has no children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Credential {
    /// Whether a field's value could not hold this: control characters (RFC 7617, 2; RFC 9110, 5.5).
    var hasControlCharacters: Bool {
        (user + password).utf8.contains { $0.isASCIIControl }
    }
}

/// The answer to a challenge of the scheme Basic (RFC 7617).
public enum BasicAnswer {
    /// The field's value; nil for a credential that Basic can't carry: a user with a colon, or control characters.
    ///
    /// User and password go as UTF-8, which is what a server can ask for (`charset`), and the others mostly take.
    public static func value(_ credential: Credential) -> String? {
        guard !credential.user.utf8.contains(UInt8(ascii: ":")), !credential.hasControlCharacters else { return nil }
        return "Basic " + Base64.encoded(Array("\(credential.user):\(credential.password)".utf8))
    }
}

/// Base 64 (RFC 4648, 4).
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
