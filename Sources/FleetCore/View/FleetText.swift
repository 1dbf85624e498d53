package import NetwatchCore

/// A fleet as text and JSON, for `--once` and for pipes.
package enum FleetText {
    /// The summary in one line: `2 of 50 not reachable: 1 silent, 1 without a network; 1 flapping`.
    package static func summary(_ totals: FleetTotals) -> String { "" }

    /// The table of all machines, without styles: the summary, joined silences, groups, and a line for each machine.
    package static func table(
        _ board: FleetBoard,
        of model: FleetModel,
        columns: Int,
        options: FleetScreen.Options,
        at now: Timestamp
    ) -> [String] { [] }
}

extension NodeStatus {
    /// The machine as one line of JSON, without a line feed; docs/fleet.md describes the members.
    package func json(at now: Timestamp) -> String { "{}" }
}

extension FleetBoard {
    /// The numbers as one line of JSON, without a line feed: `{"v":1,"nodes":50,…,"groups":[…],"bursts":[…]}`.
    package func json(at now: Timestamp) -> String { "{}" }
}
