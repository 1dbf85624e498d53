/// The content of a uevent of the `net` subsystem (netlink family 15, `lib/kobject_uevent.c`; udev(7)).
///
/// The content of an interface's `uevent` file in sysfs has the same form, so that a recording can hold it.
package struct UeventMessage: Sendable, Hashable {
    /// `ACTION`.
    package var action: Action
    /// `INTERFACE`.
    package var interface: String
    /// `IFINDEX`.
    package var index: InterfaceIndex
    /// `DEVTYPE`: `wlan`, `wwan`, `bluetooth`, `gadget` …; nil for plain Ethernet.
    package var deviceType: String?
    /// `DRIVER`, which only netwatch's recordings have: the kernel does not report it for network interfaces.
    package var driver: String?

    /// `NETWATCH_PROBE`, which only netwatch's recordings have: the result of probing the device, not a uevent.
    package var probe: DeviceProbe?

    /// Creates a message.
    package init(action: Action, interface: String, index: InterfaceIndex, deviceType: String? = nil) {
        self.action = action
        self.interface = interface
        self.index = index
        self.deviceType = deviceType
    }

    /// The `DEVTYPE` of L2TPv3 sessions.
    static let l2tpType = "l2tpeth"

    /// The change that the uevent announces.
    package enum Action: String, Sendable, Hashable {
        /// The device appeared.
        case add
        /// The device was removed.
        case remove
        /// The device was renamed.
        case move
        /// Something else about the device changed.
        case change
        /// The device moved from or to another network namespace.
        case online
        /// The device is about to be removed.
        case offline
        /// A driver was bound.
        case bind
        /// A driver was unbound.
        case unbind
    }
}

/// The result of probing the device behind an interface.
package enum DeviceProbe: Sendable, Hashable {
    /// The device was identified.
    case answered
    /// The device could not be identified, so it may be a modem; with a description of the failure.
    case failed(String)
}

// MARK: - Decoding

extension DeviceProbe {
    /// Decodes the value of `NETWATCH_PROBE`.
    init(text: String) { self = text == Self.answered.text ? .answered : .failed(text) }

    /// The value of `NETWATCH_PROBE`.
    var text: String {
        switch self {
        case .answered: "answered"
        case .failed(let why): why
        }
    }
}

extension UeventMessage {
    /// Decodes a datagram of netlink family 15: `add@/devices/…`, then `KEY=VALUE`, each terminated by a NUL.
    ///
    /// Returns nil for a uevent of another subsystem than `net`, for an action that is none of ``Action``, and for
    /// udevd's own datagrams, which begin with `libudev` and which any process may send.
    init?(datagram bytes: RawSpan) throws(NetlinkDecodeError) {
        var fields = UeventFields()
        let title = fields.next(bytes) ?? ""
        guard title != "libudev" else { return nil }
        guard let separator = title.firstIndex(of: "@") else {
            throw .init(.invalidUevent("it does not begin with an action and '@'"), at: 0)
        }
        var found = UeventKeys(action: String(title[..<separator]))
        while let field = fields.next(bytes) { try found.read(field, at: fields.start) }
        guard found.subsystem == "net", let action = Action(rawValue: found.action),
            let interface = found.interface, let index = found.index
        else { return nil }
        self.init(action: action, interface: interface, index: index, deviceType: found.deviceType)
        driver = found.driver
        probe = found.probe
    }
}

/// The texts of a uevent, each terminated by a NUL or by the end of the datagram.
private struct UeventFields {
    /// The offset of the text that was returned last.
    private(set) var start = 0
    private var position = 0

    /// Returns the next text, or nil after the last.
    mutating func next(_ bytes: RawSpan) -> String? {
        guard position < bytes.byteCount else { return nil }
        start = position
        while position < bytes.byteCount, bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self) != 0 {
            position += 1
        }
        defer { position += 1 }
        return String(decodingUTF8: bytes, from: start, to: position)
    }
}

/// The values of the keys that are decoded.
private struct UeventKeys {
    var action: String
    var subsystem: String?
    var interface: String?
    var index: InterfaceIndex?
    var deviceType: String?
    var driver: String?
    var probe: DeviceProbe?

    init(action: String) { self.action = action }

    /// Reads a `KEY=VALUE`; other keys, and text without `=`, are ignored.
    mutating func read(_ field: String, at offset: Int) throws(NetlinkDecodeError) {
        guard let separator = field.firstIndex(of: "=") else { return }
        let value = String(field[field.index(after: separator)...])
        switch field[..<separator] {
        case "ACTION": action = value
        case "SUBSYSTEM": subsystem = value
        case "INTERFACE": interface = value
        case "DEVTYPE": deviceType = value
        case "DRIVER": driver = value
        case "NETWATCH_PROBE": probe = .init(text: value)
        case "IFINDEX":
            guard let number = InterfaceIndex(value) else {
                throw .init(.invalidUevent("IFINDEX is not a number"), at: offset)
            }
            index = number
        default: break
        }
    }
}

// MARK: - Encoding

extension UeventMessage {
    /// The datagram of netlink family 15 with this content.
    var datagram: [UInt8] {
        let path = "/class/net/\(interface)"
        var fields = ["\(action.rawValue)@\(path)", "ACTION=\(action.rawValue)", "DEVPATH=\(path)", "SUBSYSTEM=net"]
        fields += ["INTERFACE=\(interface)", "IFINDEX=\(index)"]
        if let deviceType { fields.append("DEVTYPE=\(deviceType)") }
        if let driver { fields.append("DRIVER=\(driver)") }
        if let probe { fields.append("NETWATCH_PROBE=\(probe.text)") }
        return fields.flatMap { Array($0.utf8) + [0] }
    }
}
