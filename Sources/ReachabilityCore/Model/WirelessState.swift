/// What is known of a WiFi interface, merged from nl80211's messages.
public struct WirelessState: Sendable, Hashable {
    /// The radio's number.
    public var radio: UInt32?
    /// What it does on the air.
    public var mode: WirelessMode?
    /// How a station stands with its access point.
    public var association = Association.unknown
    /// The address of the access point (BSSID) of the last association, 6 bytes; nil if nobody told.
    public var accessPoint: [UInt8]?

    /// How a station stands with its access point, as far as nl80211 told since it was heard.
    public enum Association: Sendable, Hashable {
        /// Nothing was told, or the link has told more since: the link alone counts.
        case unknown
        /// An association is being made.
        case associating
        /// There is one. What follows, such as WPA's keys, shows in the link's operational state.
        case associated
        /// There was one, or there was to be one.
        case disassociated
    }

    /// Whether the interface is one that associates: a station's, or a client's of WiFi Direct.
    ///
    /// Access points, meshes, ad hoc networks and monitors have no association. While the mode is not known, messages
    /// about an association show that it is a station's.
    public var isStation: Bool { mode == nil || mode == .station || mode == .peerClient }

    /// Whether the interface can't carry packets, whatever its link says: that may be up to a second old.
    var isBarred: Bool { isStation && (association == .associating || association == .disassociated) }
}

extension WirelessState {
    /// Takes a message.
    ///
    /// - Parameters:
    ///   - message: An event of nl80211, or its answer about an interface.
    ///   - linkCarries: Whether the link shows a carrier.
    mutating func take(_ message: WirelessMessage, linkCarries: Bool) {
        switch message.command {
        case .newInterface, .setInterface: takeInterface(message)
        case .authenticate, .associate: takeStep(message, linkCarries: linkCarries)
        case .deauthenticate, .disassociate: takeFarewell(message)
        case .connect: takeResult(message)
        case .roam:
            association = .associated
            accessPoint = message.address ?? accessPoint
        case .disconnect: association = .disassociated
        case .deleteInterface, .newStation, .deleteStation, .scanResult: break
        }
    }

    /// Another mode begins without association.
    ///
    /// A network's name is there only while there is one; that it is missing in an answer says nothing, as the answer may
    /// be older than the last event.
    private mutating func takeInterface(_ message: WirelessMessage) {
        if let radio = message.radio { self.radio = radio }
        if let mode = message.mode, mode != self.mode {
            if self.mode != nil { association = .unknown }
            self.mode = mode
        }
        if association == .unknown, isStation, message.ssid?.isEmpty == false { association = .associated }
    }

    /// A step towards an association; who is associated stays so meanwhile, with those drivers that can do both.
    private mutating func takeStep(_ message: WirelessMessage, linkCarries: Bool) {
        let isRefused = message.hasTimedOut || message.status.map { $0 != 0 } ?? false
        switch association {
        case .associated: break
        case .unknown where linkCarries: break
        case .unknown, .associating, .disassociated: association = isRefused ? .disassociated : .associating
        }
    }

    /// The end of what was begun with an access point; an association's end is told by `DISCONNECT` too.
    private mutating func takeFarewell(_ message: WirelessMessage) {
        switch association {
        case .associating: association = .disassociated
        case .associated where accessPoint != nil && accessPoint == message.address: association = .disassociated
        case .associated, .unknown, .disassociated: break
        }
    }

    /// How an attempt ended; if somebody who was associated failed, the link tells what is left.
    private mutating func takeResult(_ message: WirelessMessage) {
        guard message.status ?? 0 != 0 || message.hasTimedOut else {
            association = .associated
            accessPoint = message.address ?? accessPoint
            return
        }
        association = association == .associated || association == .unknown ? .unknown : .disassociated
    }

    /// The link has its carrier back: what was told of an association's end is past.
    mutating func noteCarrier() {
        if isBarred { association = .unknown }
    }

    /// The link has lost its carrier: the association has ended, or its end is about to be told.
    mutating func noteLostCarrier() {
        if association == .associated { association = .unknown }
    }
}
