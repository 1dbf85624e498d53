extension WirelessMessage {
    /// Reads a message of nl80211; nil if it is about something else than an interface's state.
    ///
    /// Some interfaces have no index, such as those for WiFi Direct's negotiations (`NL80211_IFTYPE_P2P_DEVICE`), which
    /// carry no packets.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard let command = Command(rawValue: command) else { return nil }
        self.init(command, index: 0)
        var cursor = body.attributes(behind: GENL.headerSize)
        while let attribute = try cursor.next(bytes) { try read(attribute, bytes) }
        guard index != 0 else { return nil }
    }

    private mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        switch attribute.type {
        case NL80211.radio: radio = try attribute.integer(bytes, "NL80211_ATTR_WIPHY")
        case NL80211.interfaceIndex: index = try attribute.integer(bytes, "NL80211_ATTR_IFINDEX")
        case NL80211.mode: mode = .init(rawValue: try attribute.integer(bytes, "NL80211_ATTR_IFTYPE"))
        case NL80211.address: address = try attribute.bytes(6...6, bytes, "NL80211_ATTR_MAC")
        case NL80211.ssid: ssid = try attribute.bytes(0...Self.longestSSID, bytes, "NL80211_ATTR_SSID")
        case NL80211.frequency: frequency = try attribute.integer(bytes, "NL80211_ATTR_WIPHY_FREQ")
        case NL80211.status: status = try attribute.integer(bytes, "NL80211_ATTR_STATUS_CODE")
        case NL80211.timedOut: hasTimedOut = true
        case NL80211.stationInfo: try readStation(attribute, bytes)
        case NL80211.network: try readNetwork(attribute, bytes)
        case NL80211.frame: try readFrame(attribute, bytes)
        default: break
        }
    }

    /// Reads `NL80211_ATTR_STA_INFO`; drivers that don't know the last packet's signal may know the average.
    private mutating func readStation(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        var average: Int8?
        var cursor = attribute.nested
        while let inner = try cursor.next(bytes) {
            switch inner.type {
            case NL80211.signal: signal = try inner.integer(bytes, "NL80211_STA_INFO_SIGNAL")
            case NL80211.averageSignal: average = try inner.integer(bytes, "NL80211_STA_INFO_SIGNAL_AVG")
            default: break
            }
        }
        signal = signal ?? average
    }

    /// Reads `NL80211_ATTR_BSS`: an access point that a scan found.
    private mutating func readNetwork(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var cursor = attribute.nested
        while let inner = try cursor.next(bytes) {
            switch inner.type {
            case NL80211.Network.address: address = try inner.bytes(6...6, bytes, "NL80211_BSS_BSSID")
            case NL80211.Network.frequency: frequency = try inner.integer(bytes, "NL80211_BSS_FREQUENCY")
            case NL80211.Network.elements: ssid = Self.name(inElements: inner.payload, bytes) ?? ssid
            case NL80211.Network.signal:
                // In hundredths of a dBm.
                signal = Int8(clamping: try inner.integer(bytes, "NL80211_BSS_SIGNAL_MBM") as Int32 / 100)
            case NL80211.Network.status:
                isOwnNetwork = try inner.integer(bytes, "NL80211_BSS_STATUS") == NL80211.Network.isAssociated
            default: break
            }
        }
    }

    /// The first SSID element, whose identifier is 0, of a list: each has its identifier and its length before it.
    ///
    /// IEEE 802.11, 9.4.2. The elements come from the air, so that a list may end anywhere.
    private static func name(inElements list: WireRegion, _ bytes: RawSpan) -> [UInt8]? {
        var position = 0
        while position + 2 <= list.count {
            let (identifier, length) = (list.byte(position, bytes), Int(list.byte(position + 1, bytes)))
            let start = list.start + position + 2
            guard start + length <= list.end else { return nil }
            if identifier == 0 {
                guard length <= longestSSID else { return nil }
                return bytes.extracting(start..<start + length).withUnsafeBytes { [UInt8]($0) }
            }
            position += 2 + length
        }
        return nil
    }

    /// Reads what a management frame says of the access point and of success (IEEE 802.11, 9.3.3).
    private mutating func readFrame(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard let form = ManagementFrame(command) else { return }
        try attribute.require(ManagementFrame.headerSize, "NL80211_ATTR_FRAME")
        let start = attribute.payload.start
        let bssid = start + ManagementFrame.bssidOffset
        address = bytes.extracting(bssid..<bssid + 6).withUnsafeBytes { [UInt8]($0) }
        guard let offset = form.statusOffset, attribute.payload.count >= offset + 2 else { return }
        let value = bytes.unsafeLoadUnaligned(fromByteOffset: start + offset, as: UInt16.self)
        status = UInt16(littleEndian: value)
    }
}

/// The management frames that nl80211 hands on (IEEE 802.11, 9.3.3), as far as they are read.
struct ManagementFrame {
    /// The frame control field: version 0, type 0 and the subtype.
    let control: UInt8
    /// Where the status code lies, in the network's order of 802.11: least significant byte first.
    let statusOffset: Int?

    /// The length of the header, up to the body.
    static let headerSize = 24
    /// Where the third address lies, which is the BSSID.
    static let bssidOffset = 16

    /// The frame that a command is about; nil if it is about none.
    init?(_ command: WirelessMessage.Command) {
        switch command {
        case .authenticate: self.init(control: 0xB0, statusOffset: Self.headerSize + 4)
        case .associate: self.init(control: 0x10, statusOffset: Self.headerSize + 2)
        case .deauthenticate: self.init(control: 0xC0, statusOffset: nil)
        case .disassociate: self.init(control: 0xA0, statusOffset: nil)
        default: return nil
        }
    }

    private init(control: UInt8, statusOffset: Int?) {
        self.control = control
        self.statusOffset = statusOffset
    }
}
