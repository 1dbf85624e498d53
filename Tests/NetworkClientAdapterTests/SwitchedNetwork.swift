import Locking
import NetworkClient
import Reachability
import ReachabilityCore

/// A network that is off until it is switched on.
final class SwitchedNetwork: Connectivity {
    private struct State {
        var isOn = false
        var watchers: [@Sendable () -> Void] = []
    }

    private struct Watch: ConnectivityWatch {
        func cancel() {}
    }

    private let state = Lock(State())

    var status: ReachabilityStatus { state.withLock { $0.isOn } ? .wifi : .notReachable }
    var path: NetworkPath { .init(status: status, reasons: status == .wifi ? [] : [.noRoute]) }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        guard status == .wifi else {
            return .init(
                destination: destination,
                status: .notReachable,
                outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute),
                reasons: [.noRoute]
            )
        }
        let interface = NetworkInterface(index: 1, name: "lo", kind: .wifi, kindSource: .rule)
        return .init(
            destination: destination,
            status: .wifi,
            interface: interface,
            carriers: [interface],
            outcome: .selected(.init(table: .main, nextHop: .init(interface: 1)))
        )
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        state.withLock { $0.watchers.append(body) }
        return Watch()
    }

    func switchOn() {
        let watchers = state.withLock { state in
            state.isOn = true
            return state.watchers
        }
        for watcher in watchers { watcher() }
    }
}
