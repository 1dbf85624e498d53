/// The settings of one family on one interface, or on all, that decide about routes (`RTM_GETNETCONF`).
package struct InterfaceSettings: Sendable, Hashable {
    /// `forwarding`.
    package var forwarding = false
    /// `ignore_routes_with_linkdown`.
    package var ignoresRoutesWithLinkDown = false

    /// Makes the kernel's defaults.
    package init() {}

    /// Takes a message; one about a single setting leaves the others as they were.
    mutating func merge(_ message: NetconfMessage) {
        if let forwarding = message.forwarding { self.forwarding = forwarding }
        if let ignores = message.ignoresRoutesWithLinkDown { ignoresRoutesWithLinkDown = ignores }
    }
}

/// Identifies the settings of a family on an interface; ``NetconfMessage/allInterfaces`` for all.
package struct SettingsKey: Sendable, Hashable {
    /// The family.
    package var family: AddressFamily
    /// The interface.
    package var index: InterfaceIndex

    /// Makes a key.
    package init(_ family: AddressFamily, _ index: InterfaceIndex) {
        self.family = family
        self.index = index
    }
}

/// Identifies a neighbour: the kernel keeps one entry for an address on an interface.
package struct NeighbourKey: Sendable, Hashable {
    /// The interface.
    package var index: InterfaceIndex
    /// The neighbour's address.
    package var address: IPAddress

    /// Makes a key.
    package init(index: InterfaceIndex, address: IPAddress) {
        self.index = index
        self.address = address
    }
}
