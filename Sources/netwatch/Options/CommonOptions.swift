import ArgumentParser
import CommandLineSupport
import Reachability
import ReachabilityCore

/// What every command that watches the machine takes.
struct CommonOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: .init("Watch another network namespace, which needs privilege.", valueName: "name|path|pid"),
        completion: .shellCommand("ls /run/netns 2>/dev/null"),
        transform: NamespaceArgument.parse
    )
    var netns: NetworkNamespace = .current

    @Option(
        parsing: .unconditional,
        help: .init(
            "Hold a change back until nothing else changes for that long, but at most five times that.",
            valueName: "duration"
        ),
        transform: DurationArgument.parse
    )
    var settle: Duration = .zero

    @OptionGroup var kinds: KindOptions

    /// The monitor's configuration that follows from the options.
    var configuration: MonitorConfiguration {
        var configuration = MonitorConfiguration()
        configuration.namespace = netns
        configuration.settle = settle
        configuration.kindRules = kinds.kind
        configuration.expensiveInterfaces = kinds.expensive
        configuration.constrainedInterfaces = kinds.constrained
        return configuration
    }
}
