import ArgumentParser
import ReachabilityCore

/// What the user declares of interfaces.
struct KindOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as of that kind, such as 'wwan*=cellular'; may be repeated.",
            valueName: "pattern=kind"
        ),
        transform: KindRuleArgument.parse
    )
    var kind: [KindRule] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as costing money, as cellular ones do; may be repeated.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    var expensive: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: .init(
            "Treat interfaces whose name matches as to be used sparingly; may be repeated.",
            valueName: "pattern"
        ),
        completion: .shellCommand("ls /sys/class/net"),
        transform: PatternArgument.parse
    )
    var constrained: [String] = []

    /// What an evaluation for a user's sockets is given.
    func context(user: UInt32) -> EvaluationContext {
        .init(user: user, kindRules: kind, expensive: expensive, constrained: constrained)
    }
}
