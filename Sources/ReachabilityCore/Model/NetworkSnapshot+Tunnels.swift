/// What lies beneath tunnels.
extension NetworkSnapshot {
    /// An answer of WireGuard's.
    mutating func apply(_ message: WireGuardMessage, _ effect: inout SnapshotEffect) {
        if wireGuard.updateValue(message, forKey: message.index) != message { effect.add(.deviceChanged) }
    }
}
