/// Which interfaces' devices are to be looked at: those that the kernel's messages do not say enough about.
struct DeviceQueue: Sendable, Hashable {
    private var waiting: [Device] = []
    private var seen: Set<InterfaceIndex> = []

    /// An interface to look at.
    struct Device: Sendable, Hashable {
        var index: InterfaceIndex
        var name: String
    }

    /// Learns of interfaces that appear and go.
    ///
    /// Virtual interfaces say what they are (`IFLA_INFO_KIND`), so a thousand containers cost no look at anything.
    mutating func note(_ event: KernelEvent, known: [InterfaceIndex: UeventMessage]) {
        switch event {
        case .link(let message): note(message, known)
        case .linkRemoved(let message) where message.family == 0:
            seen.remove(message.index)
            waiting.removeAll { $0.index == message.index }
        default: break
        }
    }

    /// Looks at everything again.
    mutating func forgetAll() {
        waiting = []
        seen = []
    }

    /// The next one, unless the links are being read: until that is done, the model may not know it.
    mutating func next(whileReading subject: DumpSubject?) -> Device? {
        guard !waiting.isEmpty, subject != .links else { return nil }
        return waiting.removeFirst()
    }

    private mutating func note(_ message: LinkMessage, _ known: [InterfaceIndex: UeventMessage]) {
        guard message.kind == nil, message.family == 0, !message.isPartial, message.hardwareType != .loopback,
            let name = message.name, known[message.index] == nil, seen.insert(message.index).inserted
        else { return }
        waiting.append(.init(index: message.index, name: name))
    }
}
