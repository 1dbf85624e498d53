/// Which interfaces' devices are to be looked at: those that the kernel's messages do not say enough about.
///
/// An interface is looked at once it is set up, as it carries nothing before, and again when it has another name.
struct DeviceQueue: Sendable, Hashable {
    private var waiting: [Device] = []
    /// The interfaces that were looked at, or are being looked at, by the names that they had.
    private var asked: [InterfaceIndex: String] = [:]

    /// An interface to look at.
    struct Device: Sendable, Hashable {
        var index: InterfaceIndex
        var name: String
    }

    /// Learns of interfaces that appear, are set up and go.
    ///
    /// Virtual interfaces say what they are (`IFLA_INFO_KIND`), so a thousand containers cost no look at anything.
    ///
    /// - Returns: The interface that is to be looked at now, if this is about one.
    mutating func note(_ event: KernelEvent) -> InterfaceIndex? {
        switch event {
        case .link(let message): return note(message)
        case .linkRemoved(let message) where message.family == 0:
            asked[message.index] = nil
            waiting.removeAll { $0.index == message.index }
            return nil
        default: return nil
        }
    }

    /// Looks at everything again.
    mutating func forgetAll() { self = .init() }

    /// Whether an answer is about an interface that was asked for, as it was then.
    func expects(_ index: InterfaceIndex, name: String) -> Bool { asked[index] == name }

    /// The next one.
    mutating func next() -> Device? { waiting.isEmpty ? nil : waiting.removeFirst() }

    private mutating func note(_ message: LinkMessage) -> InterfaceIndex? {
        guard message.kind == nil, message.family == 0, !message.isPartial, message.hardwareType != .loopback,
            message.flags.contains(.up), let name = message.name, asked[message.index] != name
        else { return nil }
        asked[message.index] = name
        waiting.removeAll { $0.index == message.index }
        waiting.append(.init(index: message.index, name: name))
        return message.index
    }
}
