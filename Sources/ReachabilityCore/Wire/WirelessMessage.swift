/// What one message of nl80211 said of an interface (`include/uapi/linux/nl80211.h`), as an answer or unasked.
public struct WirelessMessage: Sendable, Hashable {
    /// What it is about.
    public var command: Command
    /// `NL80211_ATTR_IFINDEX`.
    public var index: InterfaceIndex
    /// `NL80211_ATTR_IFTYPE`; nil where the message does not say.
    public var mode: WirelessMode?
    /// `NL80211_ATTR_WIPHY`: the radio's number.
    public var radio: UInt32?
    /// `NL80211_ATTR_SSID`: up to 32 bytes, often text; of an interface only while it is associated.
    public var ssid: [UInt8]?
    /// `NL80211_ATTR_MAC`, or the frame's: the access point's address (BSSID), 6 bytes; of an interface its own.
    public var address: [UInt8]?
    /// `NL80211_ATTR_WIPHY_FREQ`, in MHz.
    public var frequency: UInt32?
    /// `NL80211_ATTR_STATUS_CODE`, or the status in the frame: why a step failed (IEEE 802.11, 9.4.1.9); 0 if it did not.
    public var status: UInt16?
    /// `NL80211_ATTR_TIMED_OUT`: the access point did not answer.
    public var hasTimedOut = false
    /// `NL80211_STA_INFO_SIGNAL` of an answer about a station, or `NL80211_BSS_SIGNAL_MBM` of one about a scan, in dBm.
    public var signal: Int8?
    /// `NL80211_BSS_STATUS` of an answer about a scan: whether this is the access point that the interface is with.
    public var isOwnNetwork = false

    /// Makes a message; the fields are set afterwards.
    public init(_ command: Command, index: InterfaceIndex) {
        self.command = command
        self.index = index
    }

    /// `IEEE80211_MAX_SSID_LEN`.
    static let longestSSID = 32

    /// The commands that tell something of an interface: `NL80211_CMD_*`.
    public enum Command: UInt8, Sendable, Hashable {
        /// `SET_INTERFACE`: its mode changed.
        case setInterface = 6
        /// `NEW_INTERFACE`: it appeared, or an answer.
        case newInterface = 7
        /// `DEL_INTERFACE`.
        case deleteInterface = 8
        /// `NEW_STATION`: as an answer, what is known of the access point.
        case newStation = 19
        /// `DEL_STATION`.
        case deleteStation = 20
        /// `NEW_SCAN_RESULTS`: as an answer, one access point of the last scan.
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

/// `NL80211_IFTYPE_*`: what an interface does on the air.
public struct WirelessMode: RawRepresentable, Sendable, Hashable {
    /// The kernel's number.
    public let rawValue: UInt32
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `NL80211_IFTYPE_ADHOC`.
    public static let adHoc = Self(rawValue: 1)
    /// `NL80211_IFTYPE_STATION`.
    public static let station = Self(rawValue: 2)
    /// `NL80211_IFTYPE_AP`.
    public static let accessPoint = Self(rawValue: 3)
    /// `NL80211_IFTYPE_MONITOR`.
    public static let monitor = Self(rawValue: 6)
    /// `NL80211_IFTYPE_MESH_POINT`.
    public static let mesh = Self(rawValue: 7)
    /// `NL80211_IFTYPE_P2P_CLIENT`.
    public static let peerClient = Self(rawValue: 8)
}

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

extension WirelessMessage {
    /// Appends `struct genlmsghdr` and the attributes, in the kernel's form.
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

    /// Appends `NL80211_ATTR_BSS`, and the status that does not belong there.
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

    /// Appends address and status: by a frame if the command is about one that came.
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
    /// A frame of an access point: its header, and its body as far as the status code.
    fileprivate func bytes(bssid: [UInt8], status: UInt16?) -> [UInt8] {
        var frame = [control] + [UInt8](repeating: 0, count: 9)
        frame += bssid + bssid + [0, 0]
        guard let status, let statusOffset else { return frame }
        frame += [UInt8](repeating: 0, count: statusOffset - frame.count)
        frame.append(status, in: .little)
        return frame
    }
}
