/// The content of an `RTM_NEWLINK` or `RTM_DELLINK` message (rtnetlink(7), `include/uapi/linux/if_link.h`).
///
/// A property is nil if the message did not carry its attribute. Wireless events carry little more than the name; what
/// they lack must not overwrite what is known (``isPartial``).
package struct LinkMessage: Sendable, Hashable {
    /// `ifi_index`.
    package var index: InterfaceIndex
    /// `ifi_family`: `AF_UNSPEC` for a link, `AF_BRIDGE` for messages about a bridge's ports.
    package var family: UInt8 = 0
    /// `ifi_type`, an `ARPHRD_*`.
    package var hardwareType: HardwareType = .none
    /// `ifi_flags`, `IFF_*`.
    package var flags: LinkFlags = []
    /// `ifi_change`.
    package var changeMask: UInt32 = 0
    /// `IFLA_IFNAME`.
    package var name: String?
    /// `IFLA_MTU`, in bytes.
    package var mtu: UInt32?
    /// `IFLA_GROUP`.
    package var group: UInt32?
    /// `IFLA_CARRIER`, often true on interfaces that are down: test ``LinkFlags/up`` first.
    package var carrier: Bool?
    /// `IFLA_OPERSTATE` (RFC 2863, `Documentation/networking/operstates.rst`).
    package var operationalState: OperationalState?
    /// `IFLA_LINK`: the lower interface (a VLAN's device, a veth's peer); an index in ``lowerNamespace`` if that is set.
    package var lowerIndex: InterfaceIndex?
    /// `IFLA_LINK_NETNSID`: the namespace of ``lowerIndex`` if it differs from this one.
    package var lowerNamespace: Int32?
    /// `IFLA_MASTER`: the bridge, bond, team or VRF that this interface belongs to.
    package var masterIndex: InterfaceIndex?
    /// `IFLA_LINKINFO` / `IFLA_INFO_KIND`.
    package var kind: String?
    /// `IFLA_LINKINFO` / `IFLA_INFO_SLAVE_KIND`.
    package var portKind: String?
    /// `IFLA_VRF_TABLE` of a VRF device.
    package var vrfTable: UInt32?
    /// `IFLA_BOND_ACTIVE_SLAVE` of a bond.
    package var bondActivePort: InterfaceIndex?
    /// Whether a bond monitors its ports, and replaces an active one that has lost its carrier: `miimon` or
    /// `arp_interval` is set (`Documentation/networking/bonding.rst`).
    package var bondReplacesPorts = false
    /// A tunnel's remote address: `IFLA_GRE_REMOTE`, `IFLA_IPTUN_REMOTE`, `IFLA_VTI_REMOTE`, `IFLA_VXLAN_GROUP` or
    /// `IFLA_GENEVE_REMOTE`; nil if there is none or if it is a multicast group.
    package var tunnelRemote: IPAddress?
    /// The address that a tunnel sends from, if it is given one (ip-link(8) `local`); nil if the kernel selects it.
    package var tunnelSource: IPAddress?
    /// The mark of a tunnel's own packets (ip-link(8) `fwmark`); 0 for none.
    package var tunnelMark: UInt32 = 0
    /// The TOS field of a tunnel's own packets; with bit 0 set, that of the packets inside.
    package var tunnelTOS: UInt8 = 0
    /// Whether this port of a bond carries traffic: `IFLA_BOND_SLAVE_STATE` is `BOND_STATE_ACTIVE`.
    package var bondPortIsActive: Bool?
    /// `IFLA_AF_SPEC` / `AF_INET6` / `IFLA_INET6_CONF`, `DEVCONF_USE_TEMPADDR` at least 2: temporary addresses are preferred.
    package var prefersTemporaryAddresses: Bool?
    /// `DEVCONF_USE_OIF_ADDRS_ONLY` in `IFLA_INET6_CONF`.
    package var usesOwnAddressesOnly: Bool?
    /// `DEVCONF_USE_OPTIMISTIC` in `IFLA_INET6_CONF`.
    package var usesOptimisticAddresses: Bool?
    /// `IFLA_PARENT_DEV_BUS_NAME`, such as `usb`, `pci` or `gadget`.
    package var parentBus: String?
    /// Whether the message carried `IFLA_WIRELESS`: a driver event, not a description of the link.
    package var isWirelessEvent = false

    /// Creates a message about an interface; set the other properties afterwards.
    package init(index: InterfaceIndex) { self.index = index }

    /// Whether the message carries few attributes and must not erase what is known.
    ///
    /// Wireless events have an `ifi_change` of 0 and neither `IFLA_MTU` nor `IFLA_OPERSTATE`.
    package var isPartial: Bool { isWirelessEvent || (mtu == nil && operationalState == nil) }
}

/// `IFF_*` (netdevice(7), `include/uapi/linux/if.h`).
package struct LinkFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `IFF_UP`: enabled by the administrator.
    package static let up = Self(rawValue: 1 << 0)
    /// `IFF_LOOPBACK`.
    package static let loopback = Self(rawValue: 1 << 3)
    /// `IFF_POINTOPOINT`.
    package static let pointToPoint = Self(rawValue: 1 << 4)
    /// `IFF_RUNNING`.
    package static let running = Self(rawValue: 1 << 6)
    /// `IFF_NOARP`.
    package static let noARP = Self(rawValue: 1 << 7)
    /// `IFF_LOWER_UP`: the driver sees a carrier.
    package static let lowerUp = Self(rawValue: 1 << 16)
    /// `IFF_DORMANT`.
    package static let dormant = Self(rawValue: 1 << 17)
}

/// The values of `IFLA_OPERSTATE` (RFC 2863, ifOperStatus).
package enum OperationalState: UInt8, Sendable, Hashable {
    /// `IF_OPER_UNKNOWN`: the driver does not report a state; the flags decide.
    case unknown = 0
    /// `IF_OPER_NOTPRESENT`.
    case notPresent = 1
    /// `IF_OPER_DOWN`.
    case down = 2
    /// `IF_OPER_LOWERLAYERDOWN`.
    case lowerLayerDown = 3
    /// `IF_OPER_TESTING`.
    case testing = 4
    /// `IF_OPER_DORMANT`: waiting for an external event such as 802.1X authentication.
    case dormant = 5
    /// `IF_OPER_UP`.
    case up = 6
}

/// `ARPHRD_*`: the hardware type of an interface (`include/uapi/linux/if_arp.h`).
package struct HardwareType: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes in `ifi_type`.
    package let rawValue: UInt16
    /// Creates a value from the kernel's number.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `ARPHRD_ETHER`.
    package static let ethernet = Self(rawValue: 1)
    /// `ARPHRD_PPP`.
    package static let ppp = Self(rawValue: 512)
    /// `ARPHRD_RAWIP`.
    package static let rawIP = Self(rawValue: 519)
    /// `ARPHRD_RAWIP` in Qualcomm's kernels, before mainline defined it.
    package static let vendorRawIP = Self(rawValue: 530)
    /// `ARPHRD_TUNNEL` (IP in IP).
    package static let tunnel = Self(rawValue: 768)
    /// `ARPHRD_TUNNEL6`.
    package static let tunnel6 = Self(rawValue: 769)
    /// `ARPHRD_LOOPBACK`.
    package static let loopback = Self(rawValue: 772)
    /// `ARPHRD_SIT` (IPv6 in IPv4).
    package static let sit = Self(rawValue: 776)
    /// `ARPHRD_IPGRE`.
    package static let gre = Self(rawValue: 778)
    /// `ARPHRD_IEEE80211_RADIOTAP`: a Wi-Fi interface in monitor mode.
    package static let wirelessMonitor = Self(rawValue: 803)
    /// `ARPHRD_IP6GRE`.
    package static let gre6 = Self(rawValue: 823)
    /// `ARPHRD_NONE`: no hardware header (tun, WireGuard, raw-ip modems).
    package static let none = Self(rawValue: 0xFFFE)

    /// Whether this is a Wi-Fi interface in monitor mode: `ARPHRD_IEEE80211`, with or without radio headers.
    package var isMonitor: Bool { (801...Self.wirelessMonitor.rawValue).contains(rawValue) }
}

/// The attributes of `IFLA_INFO_DATA` that say how a tunnel's own packets are routed (`if_tunnel.h`, `if_link.h`).
private struct TunnelAttributes {
    /// The attributes of the remote address, IPv4's first; a message may have either.
    let remotes: [UInt16]
    /// The attributes of the source address, IPv4's first; empty for a kind whose source the kernel always selects.
    var sources: [UInt16] = []
    /// The attribute of the TOS field.
    var tos: UInt16?
    /// The attribute of the packets' mark.
    var mark: UInt16?
    /// The attribute of the lower interface, for kinds that do not report it in `IFLA_LINK`.
    var lower: UInt16?

    /// Returns nil for a kind that has no single remote address.
    init?(_ kind: String) {
        switch kind {
        // IFLA_GRE_REMOTE, IFLA_GRE_LOCAL, IFLA_GRE_TOS, IFLA_GRE_FWMARK
        case "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan":
            (remotes, sources, tos, mark) = ([7], [6], 9, 20)
        // IFLA_IPTUN_REMOTE, IFLA_IPTUN_LOCAL, IFLA_IPTUN_TOS, IFLA_IPTUN_FWMARK
        case "ipip", "sit", "ip6tnl": (remotes, sources, tos, mark) = ([3], [2], 5, 20)
        // IFLA_VTI_REMOTE, IFLA_VTI_LOCAL, IFLA_VTI_FWMARK
        case "vti", "vti6": (remotes, sources, mark) = ([5], [4], 6)
        // IFLA_VXLAN_GROUP, IFLA_VXLAN_GROUP6; IFLA_VXLAN_LOCAL, IFLA_VXLAN_LOCAL6; IFLA_VXLAN_TOS; IFLA_VXLAN_LINK
        case "vxlan": (remotes, sources, tos, lower) = ([2, 16], [4, 17], 6, 3)
        // IFLA_GENEVE_REMOTE, IFLA_GENEVE_REMOTE6; IFLA_GENEVE_TOS
        case "geneve": (remotes, tos) = ([2, 7], 4)
        default: return nil
        }
    }

    /// Returns the attribute that holds a remote address of a family.
    func remote(_ family: AddressFamily) -> UInt16 {
        family == .ipv4 ? remotes[0] : remotes[remotes.count - 1]
    }

    /// Returns the attribute that holds a source address of a family; nil if the kind has none.
    func source(_ family: AddressFamily) -> UInt16? { family == .ipv4 ? sources.first : sources.last }
}

// MARK: - Decoding

extension LinkMessage {
    /// `sizeof(struct ifinfomsg)`.
    static let bodySize = 16

    /// Decodes the payload of an `RTM_NEWLINK` or `RTM_DELLINK` message.
    ///
    /// Returns nil for a link of another namespace, which a program requested with `IFLA_TARGET_NETNSID`.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        self.init(index: body.load(4, bytes))
        family = body.byte(0, bytes)
        hardwareType = .init(rawValue: body.load(2, bytes))
        flags = .init(rawValue: body.load(8, bytes))
        changeMask = body.load(12, bytes)
        var cursor = body.attributes(after: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            guard attribute.type != IFLA.targetNetnsid else { return nil }
            try read(attribute, bytes)
        }
    }

    private mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        switch attribute.type {
        case IFLA.ifname: name = attribute.text(bytes)
        case IFLA.mtu: mtu = try attribute.integer(bytes, "IFLA_MTU")
        case IFLA.link: lowerIndex = try attribute.interfaceIndex(bytes, "IFLA_LINK")
        case IFLA.master: masterIndex = try attribute.interfaceIndex(bytes, "IFLA_MASTER")
        case IFLA.wireless: isWirelessEvent = true
        case IFLA.operstate:
            operationalState = .init(rawValue: try attribute.integer(bytes, "IFLA_OPERSTATE")) ?? .unknown
        case IFLA.linkinfo: try readLinkInfo(attribute, bytes)
        case IFLA.afSpec: try readFamilies(attribute, bytes)
        case IFLA.group: group = try attribute.integer(bytes, "IFLA_GROUP")
        case IFLA.carrier: carrier = try attribute.integer(bytes, "IFLA_CARRIER") != (0 as UInt8)
        case IFLA.linkNetnsid: lowerNamespace = try attribute.integer(bytes, "IFLA_LINK_NETNSID")
        case IFLA.parentDevBusName: parentBus = attribute.text(bytes)
        default: break
        }
    }

    /// Reads `IFLA_LINKINFO`, the kinds first: the meaning of the data depends on them.
    private mutating func readLinkInfo(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var data: NetlinkAttribute?
        var portData: NetlinkAttribute?
        var cursor = attribute.nested
        while let inner = try cursor.next(bytes) {
            switch inner.type {
            case IFLA.Info.kind: kind = inner.text(bytes)
            case IFLA.Info.data: data = inner
            case IFLA.Info.slaveKind: portKind = inner.text(bytes)
            case IFLA.Info.slaveData: portData = inner
            default: break
            }
        }
        if let data { try readKindData(data, bytes) }
        if let portData, portKind == "bond" { try readBondPort(portData, bytes) }
    }

    private mutating func readKindData(_ data: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let isVRF = kind == "vrf"
        let isBond = kind == "bond"
        guard isVRF || isBond else { return try readTunnel(data, bytes) }
        var cursor = data.nested
        while let inner = try cursor.next(bytes) {
            if isVRF, inner.type == IFLA.vrfTable { vrfTable = try inner.integer(bytes, "IFLA_VRF_TABLE") }
            if isBond { try readBond(inner, bytes) }
        }
    }

    private mutating func readBond(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        switch attribute.type {
        case IFLA.bondActiveSlave: bondActivePort = try attribute.interfaceIndex(bytes, "IFLA_BOND_ACTIVE_SLAVE")
        case IFLA.bondMIIMonitor, IFLA.bondARPInterval:
            let interval: UInt32 = try attribute.integer(bytes, "the bond's monitoring interval")
            if interval != 0 { bondReplacesPorts = true }
        default: break
        }
    }

    /// Reads how a tunnel's own packets are routed.
    private mutating func readTunnel(_ data: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard let kind, let attributes = TunnelAttributes(kind) else { return }
        var cursor = data.nested
        while let inner = try cursor.next(bytes) {
            if inner.type == attributes.lower, lowerIndex == nil {
                lowerIndex = try inner.interfaceIndex(bytes, "IFLA_VXLAN_LINK")
            }
            if inner.type == attributes.mark { tunnelMark = try inner.integer(bytes, "the tunnel's mark") }
            if inner.type == attributes.tos { tunnelTOS = try inner.integer(bytes, "the tunnel's TOS") }
            let isRemote = attributes.remotes.contains(inner.type)
            guard isRemote || attributes.sources.contains(inner.type) else { continue }
            try readTunnelAddress(inner, isRemote: isRemote, bytes)
        }
    }

    /// Reads a tunnel's address, whose family follows from its length.
    private mutating func readTunnelAddress(
        _ attribute: NetlinkAttribute,
        isRemote: Bool,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        let family = attribute.payload.count < 16 ? AddressFamily.ipv4 : .ipv6
        let name = isRemote ? "the tunnel's remote address" : "the tunnel's source"
        let address = try attribute.address(family, bytes, name)
        guard !address.isUnspecified, !address.isMulticast else { return }
        if isRemote { tunnelRemote = address } else { tunnelSource = address }
    }

    private mutating func readBondPort(_ data: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var cursor = data.nested
        while let inner = try cursor.next(bytes) {
            guard inner.type == IFLA.bondSlaveState else { continue }
            // BOND_STATE_ACTIVE is 0, BOND_STATE_BACKUP is 1.
            bondPortIsActive = try inner.integer(bytes, "IFLA_BOND_SLAVE_STATE") == (0 as UInt8)
        }
    }

    /// Reads `IFLA_AF_SPEC`, which nests attributes by address family; bridge messages use it for other data.
    private mutating func readFamilies(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard family != AF.bridge else { return }
        var families = attribute.nested
        while let inner = try families.next(bytes) {
            guard inner.type == UInt16(AF.inet6) else { continue }
            var cursor = inner.nested
            while let setting = try cursor.next(bytes) {
                if setting.type == IFLA.inet6Conf { readIPv6Settings(setting, bytes) }
            }
        }
    }

    /// Reads the array of `IFLA_INET6_CONF`, whose length grows with the kernel's version.
    private mutating func readIPv6Settings(_ attribute: NetlinkAttribute, _ bytes: RawSpan) {
        func setting(_ position: Int) -> Int32? {
            let payload = attribute.payload
            return payload.count >= 4 * position + 4 ? payload.load(4 * position, bytes) : nil
        }
        prefersTemporaryAddresses = setting(DEVCONF.useTempaddr).map { $0 >= 2 }
        usesOptimisticAddresses = setting(DEVCONF.useOptimistic).map { $0 != 0 }
        usesOwnAddressesOnly = setting(DEVCONF.useOifAddrsOnly).map { $0 != 0 }
    }
}

// MARK: - Encoding

extension LinkMessage {
    /// Appends `struct ifinfomsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family)
        builder.append(UInt8(0))
        builder.append(hardwareType.rawValue)
        builder.append(index)
        builder.append(flags.rawValue)
        builder.append(changeMask)
        if let name { builder.attribute(IFLA.ifname, string: name) }
        if let mtu { builder.attribute(IFLA.mtu, mtu) }
        if let group { builder.attribute(IFLA.group, group) }
        if let carrier { builder.attribute(IFLA.carrier, carrier ? 1 : 0 as UInt8) }
        if let operationalState { builder.attribute(IFLA.operstate, operationalState.rawValue) }
        if let lowerIndex { builder.attribute(IFLA.link, index: lowerIndex) }
        if let lowerNamespace { builder.attribute(IFLA.linkNetnsid, index: lowerNamespace) }
        if let masterIndex { builder.attribute(IFLA.master, index: masterIndex) }
        if let parentBus { builder.attribute(IFLA.parentDevBusName, string: parentBus) }
        if isWirelessEvent { builder.attribute(IFLA.wireless) }
        appendLinkInfo(to: &builder)
        appendFamilies(to: &builder)
    }

    private func appendLinkInfo(to builder: inout NetlinkMessageBuilder) {
        guard kind != nil || portKind != nil else { return }
        builder.nested(IFLA.linkinfo, flagged: false) { info in
            if let kind { info.attribute(IFLA.Info.kind, string: kind) }
            if kind == "vrf", let vrfTable {
                info.nested(IFLA.Info.data, flagged: false) { $0.attribute(IFLA.vrfTable, vrfTable) }
            }
            if kind == "bond", bondActivePort != nil || bondReplacesPorts {
                info.nested(IFLA.Info.data, flagged: false) { data in
                    if let bondActivePort { data.attribute(IFLA.bondActiveSlave, index: bondActivePort) }
                    if bondReplacesPorts { data.attribute(IFLA.bondMIIMonitor, 100 as UInt32) }
                }
            }
            if let kind, let attributes = TunnelAttributes(kind), hasTunnelData {
                info.nested(IFLA.Info.data, flagged: false) { appendTunnel(attributes, to: &$0) }
            }
            if let portKind { info.attribute(IFLA.Info.slaveKind, string: portKind) }
            if portKind == "bond", let bondPortIsActive {
                info.nested(IFLA.Info.slaveData, flagged: false) {
                    $0.attribute(IFLA.bondSlaveState, bondPortIsActive ? 0 : 1 as UInt8)
                }
            }
        }
    }

    private var hasTunnelData: Bool {
        tunnelRemote != nil || tunnelSource != nil || tunnelMark != 0 || tunnelTOS != 0
    }

    private func appendTunnel(_ attributes: TunnelAttributes, to data: inout NetlinkMessageBuilder) {
        if let tunnelRemote { data.attribute(attributes.remote(tunnelRemote.family), tunnelRemote) }
        if let tunnelSource, let type = attributes.source(tunnelSource.family) { data.attribute(type, tunnelSource) }
        if let mark = attributes.mark, tunnelMark != 0 { data.attribute(mark, tunnelMark) }
        if let tos = attributes.tos, tunnelTOS != 0 { data.attribute(tos, tunnelTOS) }
    }

    /// Appends `IFLA_INET6_CONF` up to the last known setting, as an older kernel would.
    private func appendFamilies(to builder: inout NetlinkMessageBuilder) {
        let known: [(position: Int, value: Int32)] = [
            prefersTemporaryAddresses.map { (DEVCONF.useTempaddr, $0 ? 2 : 0) },
            usesOptimisticAddresses.map { (DEVCONF.useOptimistic, $0 ? 1 : 0) },
            usesOwnAddressesOnly.map { (DEVCONF.useOifAddrsOnly, $0 ? 1 : 0) },
        ].compactMap(\.self)
        guard let last = known.last else { return }
        builder.nested(IFLA.afSpec, flagged: false) { families in
            families.nested(UInt16(AF.inet6), flagged: false) { settings in
                settings.nested(IFLA.inet6Conf, flagged: false) { array in
                    for position in 0...last.position {
                        array.append(known.first { $0.position == position }?.value ?? 0)
                    }
                }
            }
        }
    }
}

// MARK: - Numbers

/// `IFLA_*`: attributes of links (`if_link.h`).
enum IFLA {
    static let ifname: UInt16 = 3
    static let mtu: UInt16 = 4
    static let link: UInt16 = 5
    static let master: UInt16 = 10
    static let wireless: UInt16 = 11
    static let operstate: UInt16 = 16
    static let linkinfo: UInt16 = 18
    static let stats64: UInt16 = 23
    static let afSpec: UInt16 = 26
    static let group: UInt16 = 27
    static let extMask: UInt16 = 29
    static let carrier: UInt16 = 33
    static let linkNetnsid: UInt16 = 37
    static let targetNetnsid: UInt16 = 46
    static let parentDevBusName: UInt16 = 57

    /// `IFLA_INFO_*`, in `IFLA_LINKINFO`.
    enum Info {
        static let kind: UInt16 = 1
        static let data: UInt16 = 2
        static let slaveKind: UInt16 = 4
        static let slaveData: UInt16 = 5
    }

    /// `IFLA_VRF_TABLE`, in `IFLA_INFO_DATA` of a `vrf`.
    static let vrfTable: UInt16 = 1
    /// `IFLA_BOND_ACTIVE_SLAVE`, in `IFLA_INFO_DATA` of a `bond`.
    static let bondActiveSlave: UInt16 = 2
    /// `IFLA_BOND_MIIMON` and `IFLA_BOND_ARP_INTERVAL`: how often ports are checked, in milliseconds; 0 for never.
    static let bondMIIMonitor: UInt16 = 3
    static let bondARPInterval: UInt16 = 7
    /// `IFLA_BOND_SLAVE_STATE`, in `IFLA_INFO_SLAVE_DATA` of a `bond`'s port.
    static let bondSlaveState: UInt16 = 1
    /// `IFLA_INET6_CONF`, in `AF_INET6` of `IFLA_AF_SPEC`: an array of 32-bit values, by `DEVCONF_*`.
    static let inet6Conf: UInt16 = 2
}

/// `DEVCONF_*`: positions in `IFLA_INET6_CONF` (`ipv6.h`).
private enum DEVCONF {
    static let useTempaddr = 10
    static let useOptimistic = 34
    static let useOifAddrsOnly = 37
}
