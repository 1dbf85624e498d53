/// Follows the machines of a model that change, for output that has only these.
package struct FleetChanges: Sendable {
    private var count = 0

    /// Creates a follower for which every machine is new.
    package init() {}

    /// Returns the machines that have changed since the last call, each once; all of them if too much has changed.
    package mutating func take(from model: inout FleetModel) -> [NodeStatus] {
        model.settle()
        defer { count = model.changeCount }
        let positions = count == 0 ? nil : model.changes(since: count)
        guard let positions else { return (0..<model.count).map { model.status(at: $0) } }
        return Set(positions).sorted().map { model.status(at: $0) }
    }
}
