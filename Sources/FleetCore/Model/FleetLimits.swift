/// Limits of what a fleet's machines can make a reader keep.
package struct FleetLimits: Hashable, Sendable {
    /// The number of machines; messages of further ones are refused.
    package var nodes = 100_000
    /// The number of changes of the state that are kept for all machines together; each has at least 64.
    package var changes = 500_000
    /// The number of changes that are kept for one machine.
    package var changesOfNode = 2_048
    /// The maximum duration of a lost connection that does not count as a silence.
    ///
    /// A broker with MQTT 3.1.1 reports a machine that connects again as lost first.
    package var grace = Duration.seconds(5)

    package init() {}
}
