package import ReachabilityCore

/// `IFLA_LINKMODE`'s values (`Documentation/networking/operstates.rst`).
package enum LinkMode: UInt8, Sendable {
    /// `IF_LINK_MODE_DEFAULT`: the operational state follows the carrier.
    case `default` = 0
    /// `IF_LINK_MODE_DORMANT`: with a carrier the state is dormant, until ``Rtnl/setOperationalState(_:to:)``.
    case dormant = 1
}

// MARK: - Finding, changing and removing links

extension Rtnl {
    /// The link of a name.
    package func link(_ name: String) throws(LabError) -> LinkMessage {
        try link(
            RtnlRequest("show link \(name)", type: RTM.getLink) { builder in
                builder.linkHeader(index: 0)
                builder.attribute(IFLA.ifname, string: name)
            }
        )
    }

    /// The link of an index.
    package func link(_ index: InterfaceIndex) throws(LabError) -> LinkMessage {
        try link(RtnlRequest("show link \(index)", type: RTM.getLink) { $0.linkHeader(index: index) })
    }

    private func link(_ request: RtnlRequest) throws(LabError) -> LinkMessage {
        guard case .link(let link) = try ask(request).event() else { throw LabError(request.description, errno: 61) }
        return link
    }

    /// The index of the link of a name.
    package func index(of name: String) throws(LabError) -> InterfaceIndex { try link(name).index }

    /// Sets links up, in their order; their carriers and those of their peers have been announced then.
    package func setUp(_ names: String...) throws(LabError) {
        for name in names { try setFlags(name, .up, true, "up") }
        for name in names { try announceCarrier(name) }
    }

    /// Sets links down, in their order; their carriers and those of their peers have been announced then.
    package func setDown(_ names: String...) throws(LabError) {
        for name in names { try setFlags(name, .up, false, "down") }
        for name in names { try announceCarrier(name) }
    }

    /// Makes the kernel announce now what it would announce of a link's carrier soon.
    ///
    /// A worker thread does that, which a busy machine may delay (`net/core/link_watch.c`); but a request for a link
    /// first announces the changes of all links (`linkwatch_sync_dev`). A peer in another namespace is not affected.
    package func announceCarrier(_ name: String) throws(LabError) {
        let link = try link(name)
        guard link.lowerNamespace == nil else { return }
        for index in [link.lowerIndex, link.masterIndex] {
            if let index { _ = try self.link(index) }
        }
    }

    /// Sets or clears `IFF_NOARP`.
    package func setARP(_ name: String, _ isOn: Bool) throws(LabError) {
        try setFlags(name, .noARP, !isOn, isOn ? "arp on" : "arp off")
    }

    /// Makes a link a port of a bridge, or of nothing.
    package func setMaster(_ name: String, to master: String?) throws(LabError) {
        var masterIndex: InterfaceIndex = 0
        if let master { masterIndex = try index(of: master) }
        try change(name, "master \(master ?? "none")") { $0.attribute(IFLA.master, index: masterIndex) }
    }

    /// Sets a link's group.
    package func setGroup(_ name: String, to group: UInt32) throws(LabError) {
        try change(name, "group \(group)") { $0.attribute(IFLA.group, group) }
    }

    /// Sets a link's MTU in bytes; IPv6 leaves a link with less than 1280.
    package func setMTU(_ name: String, to mtu: UInt32) throws(LabError) {
        try change(name, "mtu \(mtu)") { $0.attribute(IFLA.mtu, mtu) }
    }

    /// Sets a link's hardware address.
    package func setHardwareAddress(_ name: String, to address: [UInt8]) throws(LabError) {
        try change(name, "address \(address)") { $0.attribute(IFLA.address, bytes: address) }
    }

    /// Renames a link.
    package func rename(_ name: String, to newName: String) throws(LabError) {
        try change(name, "name \(newName)") { $0.attribute(IFLA.ifname, string: newName) }
    }

    /// Moves a link to another namespace.
    package func move(_ name: String, to namespace: LabNamespace) throws(LabError) {
        let descriptor = UInt32(bitPattern: namespace.descriptorNumber)
        try change(name, "netns") { $0.attribute(IFLA.netNsFd, descriptor) }
    }

    /// Removes or restores the carrier of a link whose driver allows that, such as tun (`IFLA_CARRIER`).
    ///
    /// A veth does not: set its peer down and up.
    package func setCarrier(_ name: String, _ isOn: Bool) throws(LabError) {
        try change(name, isOn ? "carrier on" : "carrier off") { $0.attribute(IFLA.carrier, UInt8(isOn ? 1 : 0)) }
    }

    /// Sets whether the operational state waits for user space.
    package func setLinkMode(_ name: String, to mode: LinkMode) throws(LabError) {
        try change(name, "mode \(mode)") { $0.attribute(IFLA.linkmode, mode.rawValue) }
    }

    /// Sets the operational state, as wpa_supplicant does; the kernel takes up, dormant and testing.
    package func setOperationalState(_ name: String, to state: OperationalState) throws(LabError) {
        try change(name, "state \(state)") { $0.attribute(IFLA.operstate, state.rawValue) }
    }

    /// Removes a link, and with it a veth's peer.
    package func deleteLink(_ name: String) throws(LabError) {
        let index = try index(of: name)
        try perform(RtnlRequest("delete link \(name)", type: RTM.delLink) { $0.linkHeader(index: index) })
    }

    private func setFlags(_ name: String, _ flag: LinkFlags, _ isOn: Bool, _ what: String) throws(LabError) {
        let index = try index(of: name)
        let request = RtnlRequest("set link \(name) \(what)", type: RTM.newLink) { builder in
            builder.linkHeader(index: index, flags: isOn ? flag : [], changing: flag)
        }
        try perform(request)
    }

    private func change(
        _ name: String,
        _ what: String,
        _ attributes: (inout NetlinkMessageBuilder) -> Void
    ) throws(LabError) {
        let index = try index(of: name)
        let request = RtnlRequest("set link \(name) \(what)", type: RTM.newLink) { builder in
            builder.linkHeader(index: index)
            attributes(&builder)
        }
        try perform(request)
    }
}
