package import NetwatchCore
import ReachabilityCore

/// A fleet as text, for `--once` and for pipes.
package enum FleetText {
    /// The summary in one line: `2 of 50 not reachable: 1 silent, 1 without a network; 1 flapping`.
    package static func summary(_ totals: FleetTotals) -> String {
        let details = totals.details.map(\.text).joined(separator: ", ")
        return totals.headline + (details.isEmpty ? "" : ": " + details)
    }

    /// The table of all machines, without styles: the summary, joined silences, groups, and a line for each machine.
    package static func table(
        _ board: FleetBoard,
        of model: FleetModel,
        columns: Int,
        options: FleetScreen.Options,
        at now: Timestamp
    ) -> [String] {
        var lines = [summary(board.totals)] + board.bursts.map(\.text)
        if let grouping = board.grouping {
            let table = GroupTable(options, grouping, columns: columns)
            lines += ["", table.heading.text] + board.groups.map { table.row($0.name, $0.totals).text }
        }
        guard board.count > 0 else { return lines }
        let table = NodeTable(options, widestName: board.widestName, columns: columns, at: now)
        return lines + ["", table.heading.text] + board.nodes(0..<board.count, in: model).map { table.row($0).text }
    }
}
