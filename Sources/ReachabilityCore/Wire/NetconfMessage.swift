/// What one `RTM_NEWNETCONF` or `RTM_DELNETCONF` said (`include/uapi/linux/netconf.h`).
public struct NetconfMessage: Sendable, Hashable {
    /// `ncm_family`.
    public var family: AddressFamily
    /// `NETCONFA_IFINDEX`: an interface, ``allInterfaces`` or ``defaultInterface``.
    public var index: InterfaceIndex
    /// `NETCONFA_FORWARDING`.
    public var forwarding: Bool?
    /// `NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN`.
    public var ignoresRoutesWithLinkDown: Bool?

    /// Makes a message.
    public init(family: AddressFamily, index: InterfaceIndex) {
        self.family = family
        self.index = index
    }

    /// `NETCONFA_IFINDEX_ALL`.
    public static let allInterfaces: InterfaceIndex = -1
    /// `NETCONFA_IFINDEX_DEFAULT`.
    public static let defaultInterface: InterfaceIndex = -2
}
