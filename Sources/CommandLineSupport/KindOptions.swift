package import ArgumentParser
package import ReachabilityCore

/// What the user declares of interfaces.
package struct KindOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as of that kind, such as 'wwan*=cellular'; may be repeated.",
            valueName: "pattern=kind"
        ),
        transform: KindRuleArgument.parse
    )
    package var kind: [KindRule] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as costing money, as cellular ones do; may be repeated.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    package var expensive: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as to be used sparingly; may be repeated.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    package var constrained: [String] = []

    package init() {}

    /// What an evaluation for a user's sockets is given.
    package func context(user: UInt32) -> EvaluationContext {
        .init(user: user, kindRules: kind, expensive: expensive, constrained: constrained)
    }
}
