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
        (user + password).utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }
}
