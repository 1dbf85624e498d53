/// The state of a Wi-Fi interface, merged from nl80211's messages.
package struct WirelessState: Sendable, Hashable {
    /// The radio's number.
    package var radio: UInt32?
    /// Its operating mode.
    package var mode: WirelessMode?
    /// The state of a station's association.
    package var association = Association.unknown
    /// The address of the access point (BSSID) of the last association, 6 bytes; nil if it was not reported.
    package var accessPoint: [UInt8]?

    /// The state of a station's association, as far as nl80211 has reported it.
    package enum Association: Sendable, Hashable {
        /// Nothing was reported, or the link has changed since: the link alone counts.
        case unknown
        /// An association is being made.
        case associating
        /// There is one. What follows, such as WPA's keys, shows in the link's operational state.
        case associated
        /// It has ended, or was not made.
        case disassociated
    }

    /// Whether the interface is one that associates: a station's, or a client's of WiFi Direct.
    ///
    /// Access points, meshes, ad hoc networks and monitors have no association. While the mode is not known, messages
    /// about an association show that it is a station's.
    package var isStation: Bool { mode == nil || mode == .station || mode == .peerClient }

    /// Whether the interface cannot carry packets, whatever its link says: that may be up to a second old.
    var isBarred: Bool { isStation && (association == .associating || association == .disassociated) }

    // MARK: Messages

    /// Takes a message.
    ///
    /// - Parameters:
    ///   - message: An event of nl80211, or its reply about an interface.
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

    /// Takes an interface's mode; a new mode begins without association.
    ///
    /// There is a network's name only during an association; its absence from a reply means nothing, as the reply may
    /// be older than the last event.
    private mutating func takeInterface(_ message: WirelessMessage) {
        if let radio = message.radio { self.radio = radio }
        if let mode = message.mode, mode != self.mode {
            if self.mode != nil { association = .unknown }
            self.mode = mode
        }
        if association == .unknown, isStation, message.ssid?.isEmpty == false { association = .associated }
    }

    /// Takes a step towards an association; with some drivers a station stays associated meanwhile.
    private mutating func takeStep(_ message: WirelessMessage, linkCarries: Bool) {
        let isRefused = message.hasTimedOut || message.status.map { $0 != 0 } ?? false
        switch association {
        case .associated: break
        case .unknown where linkCarries: break
        case .unknown, .associating, .disassociated: association = isRefused ? .disassociated : .associating
        }
    }

    /// Takes the end of what was begun with an access point; `DISCONNECT` reports an association's end too.
    private mutating func takeFarewell(_ message: WirelessMessage) {
        switch association {
        case .associating: association = .disassociated
        case .associated where accessPoint != nil && accessPoint == message.address: association = .disassociated
        case .associated, .unknown, .disassociated: break
        }
    }

    /// Takes the result of an attempt; if an associated station failed, the link shows what is left.
    private mutating func takeResult(_ message: WirelessMessage) {
        guard message.status ?? 0 != 0 || message.hasTimedOut else {
            association = .associated
            accessPoint = message.address ?? accessPoint
            return
        }
        association = association == .associated || association == .unknown ? .unknown : .disassociated
    }

    /// Records that the link regained its carrier: the end of an association is out of date.
    mutating func noteCarrier() {
        if isBarred { association = .unknown }
    }

    /// Records that the link lost its carrier: the association has ended, or its end is about to be reported.
    mutating func noteLostCarrier() {
        if association == .associated { association = .unknown }
    }
}

extension WirelessMessage {
    /// Whether it reports an association.
    var isAssociation: Bool { command == .connect && status ?? 0 == 0 && !hasTimedOut }
}

extension WirelessMessage.Command {
    /// Whether it is about the interface itself, not about stations and access points.
    var concernsInterface: Bool {
        switch self {
        case .newStation, .deleteStation, .scanResult: false
        default: true
        }
    }
}
