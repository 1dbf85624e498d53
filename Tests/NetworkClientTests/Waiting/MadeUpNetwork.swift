import Locking
import NetworkClient
import Reachability
import ReachabilityCore

/// A network whose state a test controls.
final class MadeUpNetwork: Connectivity {
    private struct State {
        var status: ReachabilityStatus
        var watchers: [Int: @Sendable () -> Void] = [:]
        var last = 0
    }

    private let state: Lock<State>

    init(_ status: ReachabilityStatus) { state = .init(.init(status: status)) }

    var status: ReachabilityStatus { state.withLock { $0.status } }

    var path: NetworkPath {
        let status = status
        return .init(status: status, reasons: status.isReachable ? [] : [.noRoute])
    }

    /// The number of watchers.
    var watchers: Int { state.withLock { $0.watchers.count } }

    /// Changes the network, and notifies the watchers.
    func become(_ status: ReachabilityStatus) {
        becomeUnheard(status)
        tell()
    }

    /// Changes the network; the notification is still pending.
    func becomeUnheard(_ status: ReachabilityStatus) { state.withLock { $0.status = status } }

    /// Notifies the watchers of a change.
    func tell() { for watcher in state.withLock({ $0.watchers.values }) { watcher() } }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let status = status
        let kind: InterfaceKind = status == .cellular ? .cellular : .wifi
        let interface = NetworkInterface(index: 1, name: "lo", kind: kind, kindSource: .rule)
        guard status.isReachable, requirement.allows(interface, over: [interface], isExpensive: kind == .cellular)
        else {
            return .init(
                destination: destination,
                status: .notReachable,
                outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute),
                reasons: [.noRoute]
            )
        }
        return .init(
            destination: destination,
            status: status,
            interface: interface,
            carriers: [interface],
            outcome: .selected(.init(table: .main, nextHop: .init(interface: 1)))
        )
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        let number = state.withLock { state in
            state.last += 1
            state.watchers[state.last] = body
            return state.last
        }
        return Watch { [weak self] in self?.state.withLock { $0.watchers[number] = nil } }
    }

    private struct Watch: ConnectivityWatch {
        let end: @Sendable () -> Void

        func cancel() { end() }
    }
}
