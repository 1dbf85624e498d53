import CommandLineSupport
import EventPage
import Reachability
import ReachabilityCore

/// Describes the machine for the page.
struct MachineDescription {
    /// The monitor's configuration.
    let configuration: MonitorConfiguration

    /// Returns a function that describes the machine as a monitor has it, without blocking the calling thread.
    func source(_ monitor: ReachabilityMonitor) -> @Sendable (@escaping @Sendable (PageNetwork) -> Void) -> Void {
        let context = configuration.evaluationContext
        let machine = MachineName.current ?? "localhost"
        return { body in
            // On the event thread the view is there without waiting.
            let isRunning = monitor.perform {
                body(Self.network(machine, context, try? monitor.view(within: .zero)))
            }
            if !isRunning { body(Self.network(machine, context, nil)) }
        }
    }

    private static func network(_ machine: String, _ context: EvaluationContext, _ view: MonitorView?) -> PageNetwork {
        let version = CommandLineProgram.version
        guard let view else { return .init(machine: machine, version: version) }
        return .init(
            machine: machine,
            version: version,
            snapshot: view.snapshot,
            evaluation: view.evaluation,
            context: context,
            at: view.instant
        )
    }
}
