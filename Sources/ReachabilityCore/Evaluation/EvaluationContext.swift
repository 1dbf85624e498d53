/// What an evaluation needs beside the model.
public struct EvaluationContext: Sendable, Hashable {
    /// The user whose sockets are judged (`uidrange` rules).
    public var user: UInt32
    /// The user's own rules for kinds of interfaces, first match wins.
    public var kindRules: [KindRule]
    /// Patterns of the names of interfaces whose use costs money, as ``KindRule/pattern`` has them.
    public var expensive: [String]
    /// Patterns of the names of interfaces that are to be used sparingly.
    public var constrained: [String]

    /// Makes a context.
    public init(user: UInt32, kindRules: [KindRule] = [], expensive: [String] = [], constrained: [String] = []) {
        self.user = user
        self.kindRules = kindRules
        self.expensive = expensive
        self.constrained = constrained
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

    /// Whether the rule is about an interface of a name.
    public func matches(_ name: String) -> Bool { GlobPattern.matches(pattern, name) }
}
