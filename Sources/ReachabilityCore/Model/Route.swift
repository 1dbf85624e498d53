/// A default-like route of the model: what the kernel said, and when it ends by itself.
public struct Route: Sendable, Hashable {
    /// The kernel's words.
    public var message: RouteMessage
    /// When the route expires; nil if it does not.
    ///
    /// The kernel stops using it then and says so up to 30 s later.
    public var expiry: Instant?

    /// Makes a route.
    public init(_ message: RouteMessage, expiry: Instant? = nil) {
        self.message = message
        self.expiry = expiry
    }
}

/// Names one routing table of one family.
public struct RouteTableKey: Sendable, Hashable, Comparable {
    /// The family.
    public var family: AddressFamily
    /// The table's number.
    public var table: RouteTableID

    /// Makes a key.
    public init(_ family: AddressFamily, _ table: RouteTableID) {
        self.family = family
        self.table = table
    }

    /// Orders by the family's number, then by the table's.
    public static func < (left: Self, right: Self) -> Bool {
        (left.family.rawValue, left.table.rawValue) < (right.family.rawValue, right.table.rawValue)
    }
}

/// Names a neighbour: the kernel keeps one entry for an address on an interface.
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

/// The settings of one family on one interface, or on all (`RTM_GETNETCONF`).
public struct InterfaceSettings: Sendable, Hashable {
    /// `forwarding`.
    public var forwarding = false
    /// `ignore_routes_with_linkdown`.
    public var ignoresRoutesWithLinkDown = false

    /// Makes the kernel's defaults.
    public init() {}
}

/// Names the settings of a family on an interface; ``NetconfMessage/allInterfaces`` for all.
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
