package import NetwatchCore

/// What is known of a fleet's machines, from their messages.
///
/// The order in which events arrive does not matter, nor whether they arrive twice. All times are those of the reader's clock,
/// `CLOCK_REALTIME`.
package struct FleetModel: Sendable {
    package init(limits: FleetLimits = .init()) { self.limits = limits }

    package let limits: FleetLimits

    /// The number of machines, those included that only the inventory has.
    package var count: Int { 0 }

    /// Takes a message.
    ///
    /// Events that were stored earlier are given in the same way, at the start and in the order in which they arrived.
    package mutating func apply(_ report: NodeReport, _ delivery: Delivery) -> FleetUpdate { .refused }

    /// Adds machines that are expected to report. Their labels apply as long as they send none of their own.
    package mutating func expect(_ inventory: FleetInventory) {}

    /// Time has passed: silences begin after the grace time, flapping ends, availabilities are computed again, in turn and each
    /// at least once a minute.
    package mutating func advance(to now: Timestamp) {}

    /// When ``advance(to:)`` is to be called at the latest; nil if nothing changes by time alone.
    package var nextChange: Timestamp? { nil }

    /// The condition of a machine; nil if there is none with the name.
    package func status(of key: NodeKey) -> NodeStatus? { nil }
}
