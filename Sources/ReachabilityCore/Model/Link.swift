/// What is known of one network interface, merged from its messages.
public struct Link: Sendable, Hashable {
    /// The kernel's number of the interface.
    public var index: InterfaceIndex
    /// Its name; interfaces are renamed, so the index is what identifies them.
    public var name: String
    /// `ARPHRD_*`.
    public var hardwareType: HardwareType
    /// `IFF_*`.
    public var flags: LinkFlags
    /// RFC 2863's operational state.
    public var operationalState: OperationalState
    /// `IFLA_CARRIER`.
    public var carrier: Bool
    /// `IFLA_MTU`, in bytes.
    public var mtu: UInt32
    /// `IFLA_GROUP`.
    public var group: UInt32
    /// `IFLA_LINK`, if there is an interface below.
    public var lowerIndex: InterfaceIndex?
    /// The namespace of ``lowerIndex``, if it is another one.
    public var lowerNamespace: Int32?
    /// `IFLA_MASTER`, if the interface belongs to another.
    public var masterIndex: InterfaceIndex?
    /// `IFLA_INFO_KIND`.
    public var kind: String?
    /// `IFLA_INFO_SLAVE_KIND`.
    public var portKind: String?
    /// The table of a VRF device.
    public var vrfTable: UInt32?
    /// The port that a bond in active-backup mode uses.
    public var bondActivePort: InterfaceIndex?
    /// Whether a bond looks at its ports, and replaces an active one that has lost its carrier: `miimon` or
    /// `arp_interval` is set (`Documentation/networking/bonding.rst`).
    public var bondReplacesPorts = false
    /// Where a tunnel's packets go, if the kernel keeps that with the link.
    public var tunnelRemote: IPAddress?
    /// The address that a tunnel sends from, if it is given one.
    public var tunnelSource: IPAddress?
    /// The mark of a tunnel's own packets; 0 for none.
    public var tunnelMark: UInt32 = 0
    /// The TOS field of a tunnel's own packets; with bit 0 set, that of the packets inside.
    public var tunnelTOS: UInt8 = 0
    /// Whether this port of a bond carries traffic.
    public var bondPortIsActive: Bool?
    /// IPv6 source selection prefers temporary addresses here (RFC 6724, rule 7).
    public var prefersTemporaryAddresses: Bool
    /// IPv6 source selection is limited to this interface's own addresses (`use_oif_addrs_only`).
    public var usesOwnAddressesOnly: Bool
    /// IPv6 source selection treats optimistic addresses as preferred (`use_optimistic`).
    public var usesOptimisticAddresses: Bool
    /// The bus of the device behind it.
    public var parentBus: String?

    /// Whether the interface was set up and can carry packets now.
    ///
    /// The operational state is up; or the driver does not say, and the flags show no wait for an event. In either case
    /// the driver has a carrier (`IFF_LOWER_UP`): the state follows the loss of that up to a second later (`linkwatch`).
    /// A WiFi monitor, whatever its state, sends no packets of IP.
    public var canCarry: Bool {
        guard flags.isSuperset(of: [.up, .lowerUp]), !hardwareType.isMonitor else { return false }
        switch operationalState {
        case .up: return true
        case .unknown: return flags.contains(.running) && !flags.contains(.dormant)
        default: return false
        }
    }
}
