import EventCore
import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

/// A fleet whose machines send messages at times of the test's choice; seconds are counted from ``start``.
struct FleetStory {
    /// 2026-11-23T12:00:00Z.
    static let start: Int64 = 1_795_435_200

    var model: FleetModel
    var board: FleetBoard
    private(set) var now: Double = 0

    init(limits: FleetLimits = .init(), filter: FleetFilter = .all, grouping: FleetGrouping? = nil) {
        model = .init(limits: limits)
        board = .init(filter: filter, grouping: grouping)
    }

    static func time(_ seconds: Double) -> Timestamp {
        .init(nanosecondsSinceEpoch: start * 1_000_000_000 + Int64((seconds * 1_000_000_000).rounded()))
    }

    /// Time passes up to a moment.
    mutating func wait(until seconds: Double) {
        now = seconds
        model.advance(to: Self.time(seconds))
        _ = board.update(from: &model)
    }

    /// A message arrives at a moment.
    @discardableResult mutating func receive(
        _ content: NodeReport.Content,
        of name: String = "n",
        group: String = "g",
        at seconds: Double,
        isRetained: Bool = false,
        expiry: UInt32? = nil
    ) -> FleetUpdate {
        now = seconds
        let report = NodeReport(key: .init(group: group, name: name), content: content)
        return model.apply(report, .init(time: Self.time(seconds), isRetained: isRetained, expiry: expiry))
    }

    /// The condition of a machine, now.
    mutating func node(_ name: String = "n", group: String = "g") throws -> NodeStatus {
        wait(until: now)
        return try #require(model.status(of: .init(group: group, name: name)))
    }
}

extension NodeReport.Content {
    /// The machine is connected.
    static func birth(_ session: String = "s", boot: String? = "b", labels: [String: String] = [:]) -> Self {
        .link(.init(session: session, boot: boot, labels: labels))
    }

    /// The broker lost the connection.
    static func lost(_ session: String = "s", boot: String? = "b") -> Self {
        .link(.init(offline: .lost, session: session, boot: boot))
    }

    /// The forwarder was stopped.
    static func stopped(_ session: String = "s", boot: String? = "b") -> Self {
        .link(.init(offline: .stopped, session: session, boot: boot))
    }
}

extension EventReport {
    /// An event `run.sequence` at a moment of the machine's clock.
    init(
        _ run: UInt64,
        _ sequence: UInt64,
        _ status: ReachabilityStatus,
        at seconds: Double,
        reasons: [String] = [],
        suspension: Duration? = nil,
        validation: ValidationVerdict? = nil
    ) {
        self.init(
            id: .init(run: run, sequence: sequence),
            time: FleetStory.time(seconds),
            status: status,
            reasons: reasons,
            path: status.isReachable ? .init(interface: "wlan0", kind: "wifi", gateway: "192.0.2.1") : nil,
            suspension: suspension,
            validation: validation.map { .init(verdict: $0) }
        )
    }
}
