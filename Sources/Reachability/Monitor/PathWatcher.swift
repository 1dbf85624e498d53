import ReachabilityCore
import Synchronization

/// Watches the paths to addresses and hosts for the subscribers of a monitor.
struct PathWatcher: Sendable {
    /// Looks paths up and reports their changes.
    let source: any MonitorSource
    /// Resolves the names of hosts.
    let resolver: NameResolver

    /// Offers the path to an address to a subscriber, and then every change of it.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - subscriber: The subscriber.
    ///   - monitor: The monitor, which the subscription keeps alive.
    ///   - end: Ends the subscriber.
    /// - Returns: The subscription.
    func watch(
        _ destination: IPAddress,
        _ subscriber: Subscriber<DestinationPath>,
        of monitor: ReachabilityMonitor,
        end: @escaping @Sendable () -> Void
    ) -> Subscription {
        let tickets = Tickets()
        let watch = source.watch(destination) { subscriber.offer($0, ticket: tickets.next()) }
        return Subscription {
            end()
            watch.cancel()
            withExtendedLifetime(monitor) {}
        }
    }

    /// Offers the paths to all addresses of a host to a subscriber, and then every change of them.
    ///
    /// - Parameters:
    ///   - host: An address, or a name.
    ///   - subscriber: The subscriber.
    ///   - monitor: The monitor, whose changes cause further resolutions; the subscription keeps it alive.
    ///   - end: Ends the subscriber.
    /// - Returns: The subscription.
    func watch(
        _ host: String,
        _ subscriber: Subscriber<HostPath>,
        of monitor: ReachabilityMonitor,
        end: @escaping @Sendable () -> Void
    ) -> Subscription {
        let watch = HostWatch(host, resolver, watchAddress: source.watch) { subscriber.offer($0, ticket: $1) }
        let changes = monitor.subscribe(on: .immediate) { _ in watch.noteNetworkChange() }
        watch.start()
        return Subscription {
            end()
            changes.cancel()
            watch.end()
        }
    }
}

/// Numbers from 1 on.
private final class Tickets: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
