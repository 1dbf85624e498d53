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
            if let kind, let form = TunnelForm(kind), hasTunnelData {
                info.nested(IFLA.Info.data, flagged: false) { appendTunnel(form, to: &$0) }
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

    private func appendTunnel(_ form: TunnelForm, to data: inout NetlinkMessageBuilder) {
        if let tunnelRemote { data.attribute(form.remote(tunnelRemote.family), tunnelRemote) }
        if let tunnelSource, let type = form.source(tunnelSource.family) { data.attribute(type, tunnelSource) }
        if let mark = form.mark, tunnelMark != 0 { data.attribute(mark, tunnelMark) }
        if let tos = form.tos, tunnelTOS != 0 { data.attribute(tos, tunnelTOS) }
    }

    /// Appends `IFLA_INET6_CONF` up to the last setting that is known: a shorter array is an older kernel's.
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
