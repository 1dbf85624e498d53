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

    /// The `DEVTYPE` of sessions of L2TPv3.
    static let l2tpType = "l2tpeth"

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
