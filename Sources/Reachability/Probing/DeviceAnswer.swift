import ReachabilityCore

/// What a look at a device gave, as datagrams for the machine and for recordings.
struct DeviceAnswer: Sendable {
    let index: InterfaceIndex
    let name: String
    private(set) var datagrams: [Datagram] = []

    init(index: InterfaceIndex, name: String) {
        self.index = index
        self.name = name
    }

    /// One datagram, as the kernel would send it.
    struct Datagram: Sendable {
        let protocolNumber: UInt16
        let bytes: [UInt8]
    }

    /// Adds what was found.
    mutating func append(_ event: KernelEvent, _ families: GenericFamilies = .init()) {
        let bytes = NetlinkEncoder(families: families).encode(event)
        datagrams.append(.init(protocolNumber: event.protocolNumber, bytes: bytes))
    }

    /// Ends the answer.
    mutating func end(_ findings: DeviceFindings) {
        append(.uevent(findings.message))
    }

    /// Ends the answer about an interface whose kind is known.
    mutating func end(_ probe: DeviceProbe) {
        var message = UeventMessage(action: .add, interface: name, index: index)
        message.probe = probe
        append(.uevent(message))
    }
}
