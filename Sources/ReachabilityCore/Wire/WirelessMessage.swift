/// The content of an nl80211 message about an interface, a reply or an event (`include/uapi/linux/nl80211.h`).
package struct WirelessMessage: Sendable, Hashable {
    /// The message's command.
    package var command: Command
    /// `NL80211_ATTR_IFINDEX`.
    package var index: InterfaceIndex
    /// `NL80211_ATTR_IFTYPE`; nil if the message does not carry it.
    package var mode: WirelessMode?
    /// `NL80211_ATTR_WIPHY`: the radio's number.
    package var radio: UInt32?
    /// `NL80211_ATTR_SSID`: up to 32 bytes, often text; an interface has one only while it is associated.
    package var ssid: [UInt8]?
    /// `NL80211_ATTR_MAC`, or the address in the frame: the access point's (BSSID) or the interface's own; 6 bytes.
    package var address: [UInt8]?
    /// `NL80211_ATTR_WIPHY_FREQ`, in MHz.
    package var frequency: UInt32?
    /// `NL80211_ATTR_STATUS_CODE`, or the status in the frame: why a step failed (IEEE 802.11, 9.4.1.9); 0 on success.
    package var status: UInt16?
    /// `NL80211_ATTR_TIMED_OUT`: the access point did not respond.
    package var hasTimedOut = false
    /// The signal strength in dBm: `NL80211_STA_INFO_SIGNAL` in replies about a station, `NL80211_BSS_SIGNAL_MBM` in scan
    /// results.
    package var signal: Int8?
    /// Whether a scan result is the access point that the interface is associated with (`NL80211_BSS_STATUS`).
    package var isOwnNetwork = false

    /// Creates a message; set the other properties afterwards.
    package init(_ command: Command, index: InterfaceIndex) {
        self.command = command
        self.index = index
    }

    /// `IEEE80211_MAX_SSID_LEN`.
    private static let maximumSSIDLength = 32

    /// The commands about the state of an interface: `NL80211_CMD_*`.
    package enum Command: UInt8, Sendable, Hashable {
        /// `SET_INTERFACE`: its mode changed.
        case setInterface = 6
        /// `NEW_INTERFACE`: it appeared; also the reply to a request.
        case newInterface = 7
        /// `DEL_INTERFACE`.
        case deleteInterface = 8
        /// `NEW_STATION`: in a reply, what is known about the access point.
        case newStation = 19
        /// `DEL_STATION`.
        case deleteStation = 20
        /// `NEW_SCAN_RESULTS`: in a reply, an access point of the last scan.
        case scanResult = 34
        /// `AUTHENTICATE`: an association begins.
        case authenticate = 37
        /// `ASSOCIATE`.
        case associate = 38
        /// `DEAUTHENTICATE`.
        case deauthenticate = 39
        /// `DISASSOCIATE`.
        case disassociate = 40
        /// `CONNECT`: an association succeeded, or failed with a status.
        case connect = 46
        /// `ROAM`: to another access point without loss of the connection.
        case roam = 47
        /// `DISCONNECT`.
        case disconnect = 48
    }
}

/// The operating mode of a wireless interface: `NL80211_IFTYPE_*`.
package struct WirelessMode: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes.
    package let rawValue: UInt32
    /// Creates a value from the kernel's number.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `NL80211_IFTYPE_ADHOC`.
    package static let adHoc = Self(rawValue: 1)
    /// `NL80211_IFTYPE_STATION`.
    package static let station = Self(rawValue: 2)
    /// `NL80211_IFTYPE_AP`.
    package static let accessPoint = Self(rawValue: 3)
    /// `NL80211_IFTYPE_AP_VLAN`: some of an access point's clients.
    package static let accessPointVLAN = Self(rawValue: 4)
    /// `NL80211_IFTYPE_MONITOR`.
    package static let monitor = Self(rawValue: 6)
    /// `NL80211_IFTYPE_MESH_POINT`.
    package static let mesh = Self(rawValue: 7)
    /// `NL80211_IFTYPE_P2P_CLIENT`.
    package static let peerClient = Self(rawValue: 8)
    /// `NL80211_IFTYPE_P2P_GO`: the access point of a Wi-Fi Direct group.
    package static let peerGroupOwner = Self(rawValue: 9)

    /// Whether the interface serves clients instead of being one.
    package var isAccessPoint: Bool { [.accessPoint, .accessPointVLAN, .peerGroupOwner].contains(self) }
}

// MARK: - Decoding

extension WirelessMessage {
    /// Decodes an nl80211 message, or returns nil if it is not about the state of an interface.
    ///
    /// Some interfaces have no index, such as those that negotiate Wi-Fi Direct (`NL80211_IFTYPE_P2P_DEVICE`). They carry
    /// no packets and are ignored.
    init?(_ command: UInt8, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard let command = Command(rawValue: command) else { return nil }
        self.init(command, index: 0)
        var cursor = body.attributes(after: GENL.headerSize)
        while let attribute = try cursor.next(bytes) { try read(attribute, bytes) }
        guard index != 0 else { return nil }
    }

    private mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        switch attribute.type {
        case NL80211.radio: radio = try attribute.integer(bytes, "NL80211_ATTR_WIPHY")
        case NL80211.interfaceIndex: index = try attribute.integer(bytes, "NL80211_ATTR_IFINDEX")
        case NL80211.mode: mode = .init(rawValue: try attribute.integer(bytes, "NL80211_ATTR_IFTYPE"))
        case NL80211.address: address = try attribute.bytes(6...6, bytes, "NL80211_ATTR_MAC")
        case NL80211.ssid: ssid = try attribute.bytes(0...Self.maximumSSIDLength, bytes, "NL80211_ATTR_SSID")
        case NL80211.frequency: frequency = try attribute.integer(bytes, "NL80211_ATTR_WIPHY_FREQ")
        case NL80211.status: status = try attribute.integer(bytes, "NL80211_ATTR_STATUS_CODE")
        case NL80211.timedOut: hasTimedOut = true
        case NL80211.stationInfo: try readStation(attribute, bytes)
        case NL80211.network: try readNetwork(attribute, bytes)
        case NL80211.frame: try readFrame(attribute, bytes)
        default: break
        }
    }

    /// Reads `NL80211_ATTR_STA_INFO`; drivers that do not know the last packet's signal may know the average.
    private mutating func readStation(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
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

    /// Reads `NL80211_ATTR_BSS`: an access point found by a scan.
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

    /// Returns the first SSID element of a list, whose identifier is 0 (IEEE 802.11, 9.4.2).
    ///
    /// Each element begins with its identifier and its length. The elements come from the air, so a list may end anywhere.
    private static func name(inElements list: WireRegion, _ bytes: RawSpan) -> [UInt8]? {
        var position = 0
        while position + 2 <= list.count {
            let (identifier, length) = (list.byte(position, bytes), Int(list.byte(position + 1, bytes)))
            let start = list.start + position + 2
            guard start + length <= list.end else { return nil }
            if identifier == 0 {
                guard length <= maximumSSIDLength else { return nil }
                return bytes.extracting(start..<start + length).withUnsafeBytes { [UInt8]($0) }
            }
            position += 2 + length
        }
        return nil
    }

    /// Reads the access point's address and the status from a management frame (IEEE 802.11, 9.3.3).
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

/// The layout of the management frames that nl80211 forwards (IEEE 802.11, 9.3.3).
private struct ManagementFrame {
    /// The frame control field: version 0, type 0 and the subtype.
    let control: UInt8
    /// The offset of the status code, which is in little-endian order; nil for frames without one.
    let statusOffset: Int?

    /// The length of the header.
    static let headerSize = 24
    /// The offset of the third address, the BSSID.
    static let bssidOffset = 16

    /// Returns the frame that a command carries, or nil if it carries none.
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

// MARK: - Encoding

extension WirelessMessage {
    /// Appends `struct genlmsghdr` and the attributes as the kernel does.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [command.rawValue, 1, 0, 0])
        if let radio { builder.attribute(NL80211.radio, radio) }
        builder.attribute(NL80211.interfaceIndex, index: index)
        if let mode { builder.attribute(NL80211.mode, mode.rawValue) }
        if hasTimedOut { builder.attribute(NL80211.timedOut) }
        guard command != .scanResult else { return appendNetwork(to: &builder) }
        if let ssid { builder.attribute(NL80211.ssid, bytes: ssid) }
        if let frequency { builder.attribute(NL80211.frequency, frequency) }
        appendAccessPoint(to: &builder)
        if let signal {
            builder.nested(NL80211.stationInfo) { $0.attribute(NL80211.signal, UInt8(bitPattern: signal)) }
        }
        if isOwnNetwork {
            builder.nested(NL80211.network) {
                $0.attribute(NL80211.Network.status, NL80211.Network.isAssociated)
            }
        }
    }

    /// Appends `NL80211_ATTR_BSS`, and the status code outside it.
    private func appendNetwork(to builder: inout NetlinkMessageBuilder) {
        if let status { builder.attribute(NL80211.status, status) }
        builder.nested(NL80211.network) { network in
            if let address { network.attribute(NL80211.Network.address, bytes: address) }
            if let frequency { network.attribute(NL80211.Network.frequency, frequency) }
            if let ssid { network.attribute(NL80211.Network.elements, bytes: [0, UInt8(clamping: ssid.count)] + ssid) }
            if let signal {
                network.attribute(NL80211.Network.signal, UInt32(bitPattern: Int32(signal) * 100))
            }
            if isOwnNetwork { network.attribute(NL80211.Network.status, NL80211.Network.isAssociated) }
        }
    }

    /// Appends the address and the status, in a frame if the command carries one.
    private func appendAccessPoint(to builder: inout NetlinkMessageBuilder) {
        var status = status
        if !hasTimedOut, let address, let form = ManagementFrame(command) {
            let body = form.statusOffset == nil ? nil : status
            builder.attribute(NL80211.frame, bytes: form.bytes(bssid: address, status: body))
            if form.statusOffset != nil { status = nil }
        } else if let address {
            builder.attribute(NL80211.address, bytes: address)
        }
        if let status { builder.attribute(NL80211.status, status) }
    }
}

extension ManagementFrame {
    /// Returns a frame of an access point, up to and including the status code.
    fileprivate func bytes(bssid: [UInt8], status: UInt16?) -> [UInt8] {
        var frame = [control] + [UInt8](repeating: 0, count: 9)
        frame += bssid + bssid + [0, 0]
        guard let status, let statusOffset else { return frame }
        frame += [UInt8](repeating: 0, count: statusOffset - frame.count)
        frame.append(status, in: .little)
        return frame
    }
}

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for a wireless interface's description (`NL80211_CMD_GET_INTERFACE`).
    ///
    /// The reply is a ``WirelessMessage/Command/newInterface``, or ENODEV if the interface is not a Wi-Fi interface.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the reply repeats.
    /// - Returns: The message with its header.
    package static func wirelessInterface(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getInterface, of: index, family: family, sequence: sequence, flags: .request)
    }

    /// Returns a request for the stations of an interface (`NL80211_CMD_GET_STATION`); a station's only one is its access
    /// point.
    ///
    /// The reply is a dump of ``WirelessMessage/Command/newStation``.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the replies repeat.
    /// - Returns: The message with its header.
    package static func wirelessStations(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getStation, of: index, family: family, sequence: sequence, flags: [.request, .dump])
    }

    /// Returns a request for the results of an interface's last scan (`NL80211_CMD_GET_SCAN`); it starts no scan.
    ///
    /// The reply is a dump of ``WirelessMessage/Command/scanResult``.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - family: ``GenericFamilies/nl80211``.
    ///   - sequence: `nlmsg_seq`, which the replies repeat.
    /// - Returns: The message with its header.
    package static func wirelessScan(_ index: InterfaceIndex, family: UInt16, sequence: UInt32) -> [UInt8] {
        request(NL80211.getScan, of: index, family: family, sequence: sequence, flags: [.request, .dump])
    }

    private static func request(
        _ command: UInt8,
        of index: InterfaceIndex,
        family: UInt16,
        sequence: UInt32,
        flags: NetlinkFlags
    ) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: family, flags: flags, sequence: sequence)
        builder.append(bytes: [command, 1, 0, 0])
        builder.attribute(NL80211.interfaceIndex, index: index)
        return builder.build()
    }
}

// MARK: - Numbers

/// `NL80211_*`: the commands and attributes of nl80211 that are requested or decoded.
private enum NL80211 {
    static let getInterface: UInt8 = 5
    static let getStation: UInt8 = 17
    static let getScan: UInt8 = 32

    static let radio: UInt16 = 1
    static let interfaceIndex: UInt16 = 3
    static let mode: UInt16 = 5
    static let address: UInt16 = 6
    static let stationInfo: UInt16 = 21
    static let frequency: UInt16 = 38
    static let network: UInt16 = 47
    static let frame: UInt16 = 51
    static let ssid: UInt16 = 52
    static let timedOut: UInt16 = 65
    static let status: UInt16 = 72

    /// `NL80211_BSS_*`, in `NL80211_ATTR_BSS`.
    enum Network {
        static let address: UInt16 = 1
        static let frequency: UInt16 = 2
        static let elements: UInt16 = 6
        static let signal: UInt16 = 7
        static let status: UInt16 = 9
        /// `NL80211_BSS_STATUS_ASSOCIATED`.
        static let isAssociated: UInt32 = 1
    }

    /// `NL80211_STA_INFO_SIGNAL`, in `NL80211_ATTR_STA_INFO`.
    static let signal: UInt16 = 7
    /// `NL80211_STA_INFO_SIGNAL_AVG`.
    static let averageSignal: UInt16 = 13
}
