/// What one uevent of the `net` subsystem said (netlink family 15, `lib/kobject_uevent.c`; udev(7)).
///
/// What is read from an interface's `uevent` file in sysfs is given the same form, so that a recording holds it.
public struct UeventMessage: Sendable, Hashable {
    /// `ACTION`.
    public var action: Action
    /// `INTERFACE`.
    public var interface: String
    /// `IFINDEX`.
    public var index: InterfaceIndex
    /// `DEVTYPE`: `wlan`, `wwan`, `bluetooth`, `gadget` …; nil for plain Ethernet.
    public var deviceType: String?
    /// `DRIVER`, which netwatch's own recordings add; the kernel does not say it of a network interface.
    public var driver: String?

    /// `NETWATCH_PROBE`, which netwatch's own recordings have: this is what a look at the device gave, and no uevent.
    public var probe: DeviceProbe?

    /// Makes a message.
    public init(action: Action, interface: String, index: InterfaceIndex, deviceType: String? = nil) {
        self.action = action
        self.interface = interface
        self.index = index
        self.deviceType = deviceType
    }

    /// What happened to the device.
    public enum Action: String, Sendable, Hashable {
        /// It appeared.
        case add
        /// It went.
        case remove
        /// It has another name.
        case move
        /// Something else about it changed.
        case change
        /// It went to another network namespace, or came from one.
        case online
        /// It is about to go.
        case offline
        /// A driver was bound.
        case bind
        /// A driver was unbound.
        case unbind
    }
}

/// How a look at an interface's device ended.
public enum DeviceProbe: Sendable, Hashable {
    /// What there is to know was found.
    case answered
    /// Whether the interface is a modem can't be told, and why, in words.
    case failed(String)
}

extension DeviceProbe {
    /// Reads the value of `NETWATCH_PROBE`.
    init(text: String) {
        self = text == Self.answered.text ? .answered : .failed(text)
    }

    /// The value of `NETWATCH_PROBE`.
    var text: String {
        switch self {
        case .answered: "answered"
        case .failed(let why): why
        }
    }
}

extension UeventMessage {
    /// Reads a datagram of netlink family 15: `add@/devices/…`, then `KEY=VALUE`, each ended by a NUL.
    ///
    /// nil for a uevent of another subsystem than `net`, for an action that is none of ``Action``, and for what udevd
    /// sends its listeners in a form of its own: it begins with `libudev`, and any process may send its like.
    init?(datagram bytes: RawSpan) throws(NetlinkDecodeError) {
        var fields = UeventFields()
        let title = fields.next(bytes) ?? ""
        guard title != "libudev" else { return nil }
        guard let separator = title.firstIndex(of: "@") else {
            throw .init(.invalidUevent("it does not begin with an action and '@'"), at: 0)
        }
        var found = UeventReading(action: String(title[..<separator]))
        while let field = fields.next(bytes) { try found.read(field, at: fields.start) }
        guard found.subsystem == "net", let action = Action(rawValue: found.action),
            let interface = found.interface, let index = found.index
        else { return nil }
        self.init(action: action, interface: interface, index: index, deviceType: found.deviceType)
        driver = found.driver
        probe = found.probe
    }
}

/// Walks the texts of a uevent, each ended by a NUL or by the end of the datagram.
private struct UeventFields {
    /// Where the text that was found last begins.
    private(set) var start = 0
    private var position = 0

    /// The next text, or nil behind the last.
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

/// Collects the keys that count.
private struct UeventReading {
    var action: String
    var subsystem: String?
    var interface: String?
    var index: InterfaceIndex?
    var deviceType: String?
    var driver: String?
    var probe: DeviceProbe?

    init(action: String) { self.action = action }

    /// Takes one `KEY=VALUE`; what is none, or has another key, is passed over.
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

extension UeventMessage {
    /// The datagram of netlink family 15 that says this, in the kernel's form.
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
