package import ArgumentParser
import NetwatchCore
package import ReachabilityCore

/// The options about kinds of interfaces.
package struct KindOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Set the kind of interfaces, such as 'wwan*=cellular'. Repeatable.",
            valueName: "pattern=kind"
        ),
        transform: KindRuleArgument.parse
    )
    package var kind: [KindRule] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Mark interfaces as expensive, as cellular ones are. Repeatable.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    package var expensive: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Mark interfaces as constrained, to be used sparingly. Repeatable.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    package var constrained: [String] = []

    package init() {}

    /// Returns the context of evaluations for a user's sockets.
    package func context(user: UInt32) -> EvaluationContext {
        .init(user: user, kindRules: kind, expensive: expensive, constrained: constrained)
    }
}

/// Reads `PATTERN=KIND`, as `--kind` takes it.
package enum KindRuleArgument {
    /// Reads a rule.
    ///
    /// The last `=` counts, because an interface's name may contain one and a kind does not.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> KindRule {
        guard let separator = text.lastIndex(of: "=") else {
            throw .init("the '=' is missing; write PATTERN=KIND, such as wwan*=cellular")
        }
        let pattern = String(text[..<separator])
        let name = text[text.index(after: separator)...]
        guard !pattern.isEmpty else {
            throw .init("the pattern before '=' is empty; write PATTERN=KIND, such as wwan*=cellular")
        }
        guard let kind = InterfaceKind(rawValue: String(name)) else {
            throw .init("'\(name.escapedForTerminal)' is not a kind; the kinds are \(kinds)")
        }
        return .init(pattern: pattern, kind: kind)
    }

    private static let kinds = InterfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
}

/// Reads a pattern of interfaces' names, as `--expensive` and `--constrained` take it.
package enum PatternArgument {
    /// Reads a pattern.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> String {
        guard !text.isEmpty else { throw .init("the pattern is empty; write a name such as wwan0, or enx*") }
        guard !text.utf8.contains(UInt8(ascii: "=")) else {
            throw .init("'\(text.escapedForTerminal)' has a '='; write the pattern alone, such as wwan*")
        }
        return text
    }
}

/// Which paths will not do.
package struct RequirementOptions: ParsableArguments {
    @Flag(name: .customLong("no-cellular"), help: "Exclude cellular paths.")
    package var excludesCellular = false

    @Flag(name: .customLong("wifi-only"), help: "Use Wi-Fi only, not Ethernet.")
    package var isWiFiOnly = false

    @Flag(
        name: .customLong("no-expensive"),
        help: "Exclude cellular, tethered, --expensive paths."
    )
    package var excludesExpensive = false

    package init() {}

    package func validate() throws {
        guard isWiFiOnly, excludesExpensive else { return }
        throw ValidationError("--wifi-only and --no-expensive can't be had together; give the one that matters more")
    }

    /// The requirement for paths.
    ///
    /// Whatever is not expensive is not cellular either, nor is Wi-Fi.
    package var requirement: PathRequirement {
        isWiFiOnly ? .wifi : excludesExpensive ? .notExpensive : excludesCellular ? .notCellular : .any
    }
}

extension PathRequirement {
    /// The option that asks for it.
    package var option: String {
        switch self {
        case .any: "any path"
        case .notCellular: "--no-cellular"
        case .wifi: "--wifi-only"
        case .notExpensive: "--no-expensive"
        case .interface(let name): "--interface \(name.escapedForTerminal)"
        }
    }
}
