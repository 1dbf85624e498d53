extension LinkMessage {
    /// `sizeof(struct ifinfomsg)`.
    static let bodySize = 16

    /// Reads the payload of an `RTM_NEWLINK` or `RTM_DELLINK`.
    ///
    /// nil for a link of another namespace, about which a program asked with `IFLA_TARGET_NETNSID`.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        self.init(index: body.load(4, bytes))
        family = body.byte(0, bytes)
        hardwareType = .init(rawValue: body.load(2, bytes))
        flags = .init(rawValue: body.load(8, bytes))
        changeMask = body.load(12, bytes)
        var cursor = body.attributes(behind: Self.bodySize)
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

    /// Reads `IFLA_LINKINFO`; the data's meaning depends on the kinds, so it is read when all of them are known.
    private mutating func readLinkInfo(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
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

    /// Reads where a tunnel leads; which family an address is of, its length tells.
    private mutating func readTunnel(_ data: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard let kind, let form = TunnelForm(kind) else { return }
        var cursor = data.nested
        while let inner = try cursor.next(bytes) {
            if inner.type == form.lower, lowerIndex == nil {
                lowerIndex = try inner.interfaceIndex(bytes, "IFLA_VXLAN_LINK")
            }
            if inner.type == form.mark { tunnelMark = try inner.integer(bytes, "the tunnel's mark") }
            if inner.type == form.tos { tunnelTOS = try inner.integer(bytes, "the tunnel's TOS") }
            guard form.remotes.contains(inner.type) || form.sources.contains(inner.type) else { continue }
            try readTunnelAddress(inner, isRemote: form.remotes.contains(inner.type), bytes)
        }
    }

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

    /// Reads `IFLA_AF_SPEC`, which holds one nest for each address family; a bridge's messages put other things there.
    private mutating func readFamilies(
        _ attribute: NetlinkAttribute,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
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

    /// Reads the array of `IFLA_INET6_CONF`, which is as long as the kernel is new.
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

extension NetlinkAttribute {
    /// The payload as the index of an interface; nil for 0, which stands for none.
    func interfaceIndex(_ bytes: RawSpan, _ name: String) throws(NetlinkDecodeError) -> InterfaceIndex? {
        let index: InterfaceIndex = try integer(bytes, name)
        return index == 0 ? nil : index
    }
}
