/// The settings of one family on one interface, or on all, that decide about routes (`RTM_GETNETCONF`).
public struct InterfaceSettings: Sendable, Hashable {
    /// `forwarding`.
    public var forwarding = false
    /// `ignore_routes_with_linkdown`.
    public var ignoresRoutesWithLinkDown = false

    /// Makes the kernel's defaults.
    public init() {}

    /// Takes a message; one about a single setting leaves the others as they were.
    mutating func merge(_ message: NetconfMessage) {
        if let forwarding = message.forwarding { self.forwarding = forwarding }
        if let ignores = message.ignoresRoutesWithLinkDown { ignoresRoutesWithLinkDown = ignores }
    }
}

/// Identifies the settings of a family on an interface; ``NetconfMessage/allInterfaces`` for all.
public struct SettingsKey: Sendable, Hashable {
    /// The family.
    public var family: AddressFamily
    /// The interface.
    public var index: InterfaceIndex

    /// Makes a key.
    public init(_ family: AddressFamily, _ index: InterfaceIndex) {
        self.family = family
        self.index = index
    }
}

/// Identifies a neighbour: the kernel keeps one entry for an address on an interface.
public struct NeighbourKey: Sendable, Hashable {
    /// The interface.
    public var index: InterfaceIndex
    /// The neighbour's address.
    public var address: IPAddress

    /// Makes a key.
    public init(index: InterfaceIndex, address: IPAddress) {
        self.index = index
        self.address = address
    }
}
