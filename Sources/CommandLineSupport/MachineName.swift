import Glibc
package import Reachability
package import ReachabilityCore

/// The name of the machine (gethostname(2)).
package enum MachineName {
    /// The name; nil if it has none, or one that is not UTF-8.
    package static var current: String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(validating: name, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension MonitorConfiguration {
    /// The context of evaluations.
    package var evaluationContext: EvaluationContext {
        .init(
            user: user ?? geteuid(),
            kindRules: kindRules,
            expensive: expensiveInterfaces,
            constrained: constrainedInterfaces
        )
    }
}
