/// What an evaluation needs beside the model.
public struct EvaluationContext: Sendable, Hashable {
    /// The user whose sockets are judged (`uidrange` rules).
    public var user: UInt32
    /// The user's own rules for kinds of interfaces, first match wins.
    public var kindRules: [KindRule]

    /// Makes a context.
    public init(user: UInt32, kindRules: [KindRule] = []) {
        self.user = user
        self.kindRules = kindRules
    }
}

/// A rule of the user's: interfaces whose name matches a pattern are of a kind (`wwan*=cellular`).
public struct KindRule: Sendable, Hashable {
    /// The pattern: `*` stands for any characters, `?` for one; the rest for itself.
    public var pattern: String
    /// The kind of the interfaces that match.
    public var kind: InterfaceKind

    /// Makes a rule.
    public init(pattern: String, kind: InterfaceKind) {
        self.pattern = pattern
        self.kind = kind
    }
}
