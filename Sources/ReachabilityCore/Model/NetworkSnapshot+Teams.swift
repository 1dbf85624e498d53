/// What the team driver tells of teams.
extension NetworkSnapshot {
    /// Takes a team's options: all of them, or those that changed.
    mutating func apply(_ message: TeamMessage, _ effect: inout SnapshotEffect) {
        let old = teams[message.index]
        var new = old ?? .init(index: message.index)
        new.merge(message)
        guard new != old else { return }
        teams[message.index] = new
        effect.add(.linkChanged)
    }
}
