package import ReachabilityCore

/// The options of a new link; the kernel chooses the rest.
package struct LinkOptions: Sendable {
    /// Its index; nil for the next free one.
    package var index: InterfaceIndex?
    /// Its group (`ip link set group`).
    package var group: UInt32?
    /// Its MTU in bytes.
    package var mtu: UInt32?
    /// The namespace to make it in; nil for the speaker's own.
    package var namespace: LabNamespace?

    /// Makes options.
    package init(
        index: InterfaceIndex? = nil,
        group: UInt32? = nil,
        mtu: UInt32? = nil,
        namespace: LabNamespace? = nil
    ) {
        self.index = index
        self.group = group
        self.mtu = mtu
        self.namespace = namespace
    }
}

/// `IFLA_MACVLAN_MODE`'s values.
package enum MacvlanMode: UInt32, Sendable {
    /// `MACVLAN_MODE_PRIVATE`.
    case `private` = 1
    /// `MACVLAN_MODE_VEPA`.
    case vepa = 2
    /// `MACVLAN_MODE_BRIDGE`.
    case bridge = 4
}

// MARK: - Creating links

extension Rtnl {
    /// Makes a veth pair; each end has its carrier while the other one is up.
    ///
    /// The kernel announces the carrier of an end with the same index as its peer's with up to 1 s delay, as a physical
    /// one's; with different indexes, at once.
    package func createVeth(
        _ name: String,
        _ options: LinkOptions = .init(),
        peer: String,
        _ peerOptions: LinkOptions = .init()
    ) throws(LabError) {
        try createLink(name, kind: "veth", options) { data in
            data.nested(IFLA.vethInfoPeer) { $0.link(named: peer, peerOptions) }
        }
    }

    /// Makes a veth pair with chosen indexes.
    package func createVeth(
        _ name: String,
        index: InterfaceIndex,
        peer: String,
        peerIndex: InterfaceIndex
    ) throws(LabError) {
        try createVeth(name, .init(index: index), peer: peer, .init(index: peerIndex))
    }

    /// Makes a bridge.
    package func createBridge(_ name: String, _ options: LinkOptions = .init()) throws(LabError) {
        try createLink(name, kind: "bridge", options)
    }

    /// Makes an intermediate functional block device: a link that is always there and leads nowhere.
    package func createIFB(_ name: String, _ options: LinkOptions = .init()) throws(LabError) {
        try createLink(name, kind: "ifb", options)
    }

    /// Makes a macvlan over another link.
    package func createMacvlan(
        _ name: String,
        over lower: String,
        mode: MacvlanMode = .bridge,
        _ options: LinkOptions = .init()
    ) throws(LabError) {
        let lowerIndex = try index(of: lower)
        try createLink(name, kind: "macvlan", options, lower: lowerIndex) { data in
            data.attribute(IFLA.macvlanMode, mode.rawValue)
        }
    }

    /// Makes a VXLAN tunnel, bound to a link if one is named.
    package func createVXLAN(
        _ name: String,
        id: UInt32,
        local: IPAddress? = nil,
        remote: IPAddress? = nil,
        over lower: String? = nil,
        _ options: LinkOptions = .init()
    ) throws(LabError) {
        var lowerIndex: InterfaceIndex?
        if let lower { lowerIndex = try index(of: lower) }
        try createLink(name, kind: "vxlan", options) { data in
            data.attribute(IFLA.vxlanID, id)
            data.attribute(IFLA.vxlanPort, networkOrder: UInt16(4789))
            if let lowerIndex { data.attribute(IFLA.vxlanLink, index: lowerIndex) }
            if let remote { data.attribute(remote.family == .ipv4 ? IFLA.vxlanGroup : IFLA.vxlanGroup6, remote) }
            if let local { data.attribute(local.family == .ipv4 ? IFLA.vxlanLocal : IFLA.vxlanLocal6, local) }
        }
    }

    /// Makes a link of a kind that needs no data, or whose data the closure appends (`IFLA_INFO_DATA`).
    package func createLink(
        _ name: String,
        kind: String,
        _ options: LinkOptions = .init(),
        lower: InterfaceIndex? = nil,
        data: ((inout NetlinkMessageBuilder) -> Void)? = nil
    ) throws(LabError) {
        let flags: NetlinkFlags = [.create, .exclusive]
        try perform(
            RtnlRequest("add link \(name) type \(kind)", type: RTM.newLink, flags: flags) { builder in
                builder.link(named: name, options)
                if let lower { builder.attribute(IFLA.link, index: lower) }
                builder.nested(IFLA.linkinfo) { info in
                    info.attribute(IFLA.infoKind, string: kind)
                    if let data { info.nested(IFLA.infoData, data) }
                }
            }
        )
    }
}

extension NetlinkMessageBuilder {
    /// Appends a new link's `struct ifinfomsg`, name and options.
    fileprivate mutating func link(named name: String, _ options: LinkOptions) {
        linkHeader(index: options.index ?? 0)
        attribute(IFLA.ifname, string: name)
        if let group = options.group { attribute(IFLA.group, group) }
        if let mtu = options.mtu { attribute(IFLA.mtu, mtu) }
        if let namespace = options.namespace {
            attribute(IFLA.netNsFd, UInt32(bitPattern: namespace.descriptorNumber))
        }
    }

    /// Appends `struct ifinfomsg`.
    mutating func linkHeader(index: InterfaceIndex, flags: LinkFlags = [], changing mask: LinkFlags = []) {
        append(UInt8(0))
        append(UInt8(0))
        append(UInt16(0))
        append(index)
        append(flags.rawValue)
        append(mask.rawValue)
    }
}
