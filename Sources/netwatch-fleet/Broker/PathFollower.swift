import MQTTClient
import NetworkClient
import Reachability
import ReachabilityCore

/// Has a viewer connect again when the machine's path changes, instead of after a keep-alive.
final class PathFollower {
    private let monitor: ReachabilityMonitor?
    private var subscription: Subscription?

    /// Starts to follow the machine's path; without a monitor, the client connects as the kernel chooses.
    ///
    /// - Parameters:
    ///   - binding: The interface or source address to use.
    ///   - isLoopback: Whether the broker is on this machine, so that no path matters.
    ///   - use: Takes the route, at first and when it changes.
    init(_ binding: LocalBinding, isLoopback: Bool, use: @escaping @Sendable (MQTTClient.Route) -> Void) {
        monitor = isLoopback ? nil : try? ReachabilityMonitor()
        guard let monitor else {
            use(.through(binding, path: "unknown"))
            return
        }
        // A broker in one's own network needs no default path, so that none is no reason not to connect.
        subscription = monitor.subscribe(on: .immediate) { change in
            // Nothing is known yet; the next change follows at once.
            guard !change.reasons.contains(.reading) else { return }
            let sources = [change.path.ipv4?.source, change.path.ipv6?.source].map { $0?.description }
            let parts = [change.path.interface?.name] + sources
            use(.through(binding, path: parts.map { $0 ?? "-" }.joined(separator: " ")))
        }
    }

    /// Ends it.
    func stop() { subscription?.cancel() }
}
