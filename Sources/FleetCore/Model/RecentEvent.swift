package import NetwatchCore
package import ReachabilityCore

/// An event of a machine, as far as a viewer shows it.
package struct RecentEvent: Hashable, Sendable {
    /// When it happened, by the machine's clock; nil if that was not set.
    package let time: Timestamp?
    package let status: ReachabilityStatus
    /// The reasons, by their names.
    package let reasons: [String]
}

extension FleetModel {
    /// Returns the last events of a machine, the newest first; of events in one state that follow each other, the first and
    /// the last.
    package func recentEvents(of key: NodeKey, limit: Int) -> [RecentEvent] {
        guard let position = positions[key] else { return [] }
        let events = records[position].log.runs.reversed().lazy.flatMap { $0.events.reversed() }
        return events.prefix(limit).map { event in
            let time = event.time.map { Timestamp(nanosecondsSinceEpoch: $0) }
            return .init(time: time, status: event.status, reasons: event.reasons)
        }
    }
}
