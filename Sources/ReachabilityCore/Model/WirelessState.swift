/// What is known of a WiFi interface, merged from nl80211's messages.
public struct WirelessState: Sendable, Hashable {
    /// The radio's number.
    public var radio: UInt32?
    /// What it does on the air.
    public var mode: WirelessMode?
}

extension NetworkSnapshot {
    /// A message of nl80211.
    mutating func apply(_ message: WirelessMessage, _ effect: inout SnapshotEffect) {
        let old = wireless[message.index]
        switch message.command {
        case .deleteInterface: wireless[message.index] = nil
        case .newInterface, .setInterface:
            wireless[message.index, default: .init()].radio = message.radio
            wireless[message.index]?.mode = message.mode
        default: break
        }
        if wireless[message.index] != old { effect.add(.deviceChanged) }
    }
}
