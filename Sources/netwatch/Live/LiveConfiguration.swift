import Glibc
import Reachability
import ReachabilityCore

/// What the live view is asked for.
struct LiveConfiguration {
    /// What to watch.
    var monitor = MonitorConfiguration()
    /// Hosts whose own ways are shown.
    var hosts: [WrittenHost] = []
    /// When colours are used.
    var color = ColorChoice.auto
}

extension LiveConfiguration {
    /// What the monitor's evaluation is given.
    var evaluationContext: EvaluationContext {
        .init(
            user: monitor.user ?? geteuid(),
            kindRules: monitor.kindRules,
            expensive: monitor.expensiveInterfaces,
            constrained: monitor.constrainedInterfaces
        )
    }
}
