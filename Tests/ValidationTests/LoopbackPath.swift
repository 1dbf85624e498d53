import HTTPLab
import NetworkClient
import Reachability
import ReachabilityCore

/// A path through the loopback interface, as if it led to the internet; tests put servers and portals behind it.
final class LoopbackPath: Connectivity {
    private let isMetered: Observed<Bool>
    private let watcher = Observed<(@Sendable () -> Void)?>(nil)

    init(isMetered: Bool = false) { self.isMetered = .init(isMetered) }

    /// Makes it another path, which is metered or not.
    func change(isMetered: Bool) {
        self.isMetered.update { $0 = isMetered }
        watcher.value?()
    }

    var status: ReachabilityStatus { .wifi }

    var path: NetworkPath {
        let interface = NetworkInterface(index: 1, name: "lo", kind: .wired, kindSource: .rule)
        let family = FamilyPath(
            status: .wifi,
            interface: interface,
            carriers: [interface],
            gateway: nil,
            source: .init(ipv4: 0x7F00_0001),
            metric: 0,
            table: .main
        )
        return .init(
            status: .wifi,
            interface: interface,
            carriers: [interface],
            ipv4: family,
            isExpensive: isMetered.value
        )
    }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        .init(
            destination: destination,
            status: .wifi,
            outcome: .selected(.init(table: .main, nextHop: .init(interface: 1)))
        )
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        watcher.update { $0 = body }
        return Watch()
    }

    private struct Watch: ConnectivityWatch {
        func cancel() {}
    }
}
