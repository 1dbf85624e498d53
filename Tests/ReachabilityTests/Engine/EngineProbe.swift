import NetworkLab
import ReachabilityCore

@testable import Reachability

/// An engine in a separate namespace, and all its changes so far.
final class EngineProbe: Sendable {
    let engine: MonitorEngine
    let changes: LabInbox<ReachabilityChange>

    /// Starts an engine in the namespace.
    init(in lab: LabNamespace, _ configuration: MonitorConfiguration = .init()) throws {
        let changes = LabInbox<ReachabilityChange>()
        let engine = MonitorEngine(configuration) { changes.put($0) }
        self.engine = engine
        self.changes = changes
        try lab.run { try engine.start() }
    }

    /// Waits until the newest change satisfies a condition.
    @discardableResult
    func wait(for what: String, _ condition: (ReachabilityChange) -> Bool) throws -> ReachabilityChange {
        let all = try changes.wait(for: what) { $0.last.map(condition) ?? false }
        return all[all.count - 1]
    }

    /// Waits until the newest change has a status.
    @discardableResult
    func wait(for status: ReachabilityStatus) throws -> ReachabilityChange {
        try wait(for: status.name) { $0.status == status }
    }

    /// The statuses of all changes, in order.
    var statuses: [ReachabilityStatus] { changes.all.map(\.status) }
}

extension MonitorEngine {
    /// The model and the evaluation, once the model agrees with the kernel, however long a busy machine takes.
    func view() throws(ReachabilityError) -> MonitorView { try view(within: .seconds(120)) }

    /// The path to a destination, however long a busy machine takes to answer; what the engine answers once it has waited for
    /// ``settlingTime`` is what is known by then.
    func waitForPath(
        to destination: IPAddress,
        requiring requirement: PathRequirement = .any
    ) throws -> DestinationPath {
        let answers = LabInbox<EngineResult<DestinationPath>>()
        path(to: destination, meeting: requirement) { answers.put($0) }
        return try answers.wait(for: "the path") { !$0.isEmpty }[0].get()
    }
}

extension AddressMessage {
    /// Whether the address is global, and its duplicate detection over.
    var isReady: Bool { !flags.contains(.tentative) && scope == .universe }
}

extension LabNamespace {
    /// Makes a veth pair, the near end up with an address, the far end up: a link with carrier.
    func makeUplink(_ name: String, index: InterfaceIndex, address: String) throws {
        try rtnl.createVeth(name, index: index, peer: "far-\(name)", peerIndex: index + 100)
        try rtnl.setUp(name, "far-\(name)")
        try rtnl.addAddress(address, on: name)
    }
}
