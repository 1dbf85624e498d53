/// The model of a machine's network at one moment: everything that an evaluation reads.
///
/// Each collection is kept in the kernel's own order, because the kernel's choices depend on it.
package struct NetworkSnapshot: Sendable, Hashable {
    /// The interfaces, in the order of their indexes; ``link(_:)`` finds one.
    package internal(set) var links: [Link] = []
    /// Each interface's addresses of both families, in the kernel's order.
    package internal(set) var addresses: [InterfaceIndex: [AddressMessage]] = [:]
    /// The default-like routes of each table, in the kernel's order.
    package internal(set) var routes = RoutingTables()
    /// The rules for IPv4, in the order in which the kernel walks them.
    package internal(set) var ipv4Rules = RuleTable()
    /// The rules for IPv6, in the order in which the kernel walks them.
    package internal(set) var ipv6Rules = RuleTable()
    /// The nexthop objects.
    package internal(set) var nexthops = NexthopTable()
    /// The states of the gateways of routes that compete.
    package internal(set) var neighbours: [NeighbourKey: NeighbourState] = [:]
    /// The settings that decide about routes.
    package internal(set) var settings: [SettingsKey: InterfaceSettings] = [:]
    /// The devices behind interfaces.
    package internal(set) var devices = DeviceTable()
    /// The options of teams.
    package internal(set) var teams: [InterfaceIndex: TeamMessage] = [:]
    /// The properties of tunnels beyond their links.
    package internal(set) var tunnels = TunnelTable()
    /// The bridges and other masters that have, or have had, a port that leads out of the machine.
    package internal(set) var mastersWithUplink: Set<InterfaceIndex> = []

    /// Makes the model of a machine without interfaces.
    package init() {}

    // MARK: Lookup

    /// Returns the interface with an index, in logarithmic time.
    package func link(_ index: InterfaceIndex) -> Link? { linkPosition(index).map { links[$0] } }

    /// Returns the position of an interface in ``links``.
    func linkPosition(_ index: InterfaceIndex) -> Int? {
        let position = linkInsertion(index)
        return position < links.count && links[position].index == index ? position : nil
    }

    /// Returns the position that an interface has, or would have, in ``links``.
    private func linkInsertion(_ index: InterfaceIndex) -> Int {
        var low = 0
        var high = links.count
        while low < high {
            let middle = (low + high) / 2
            if links[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the rules of a family, in the order in which the kernel walks them.
    package func rules(_ family: AddressFamily) -> [RuleMessage] {
        family == .ipv4 ? ipv4Rules.elements : ipv6Rules.elements
    }

    /// Returns the default-like routes of a table, in the kernel's order.
    package func routes(_ family: AddressFamily, _ table: RouteTableID) -> [Route] {
        routes[.init(family, table)]?.elements ?? []
    }

    /// Returns the routing table of the VRF that an interface is, or belongs to.
    package func vrfTable(of index: InterfaceIndex) -> RouteTableID? {
        guard let link = link(index) else { return nil }
        let table = link.vrfTable ?? link.masterIndex.flatMap { self.link($0)?.vrfTable }
        return table.map(RouteTableID.init(rawValue:))
    }

    // MARK: Messages

    /// Applies one message of the kernel to the model, and returns what it changed.
    ///
    /// Whatever the kernel removes silently when it sends this message is removed as well, by prediction. Applying
    /// what is known already changes nothing, so a dump may be replayed over the model, and events over a dump.
    ///
    /// - Parameters:
    ///   - event: The message. Control messages, requests and types that the model does not hold change nothing.
    ///   - header: The message's header: its flags distinguish replacing, appending and prepending, and replies to a
    ///     dump (`NLM_F_MULTI`), which come in the kernel's order, from notifications.
    ///   - now: When the message was received; lifetimes count from here.
    /// - Returns: What changed.
    @discardableResult
    package mutating func apply(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) -> SnapshotEffect {
        var effect = SnapshotEffect()
        switch event {
        case .route(let message): insert(message, header.flags, at: now, &effect)
        case .routeRemoved(let message): if message.isMirrored { routes.remove(message, &effect) }
        case .link(let message): insert(message, &effect)
        case .linkRemoved(let message): remove(message, &effect)
        case .address(let message): insert(message, header.flags, &effect)
        case .addressRemoved(let message): remove(message, &effect)
        case .nexthop(let message): nexthops.insert(message, &effect)
        case .nexthopRemoved(let message): removeNexthops([message.id], &effect)
        case .rule(let message) where message.family == .ipv4: ipv4Rules.insert(message, &effect)
        case .rule(let message): ipv6Rules.insert(message, &effect)
        case .ruleRemoved(let message) where message.family == .ipv4: ipv4Rules.remove(message, &effect)
        case .ruleRemoved(let message): ipv6Rules.remove(message, &effect)
        case .neighbour(let message): note(message.state, of: message, &effect)
        case .neighbourRemoved(let message): note(nil, of: message, &effect)
        case .netconf(let message): insert(message, &effect)
        case .netconfRemoved(let message): remove(message, &effect)
        case .uevent(let message):
            devices.apply(message, isAskedForEgress: isAskedForEgress(message.index), &effect)
        case .wireless(let message): devices.apply(message, link(message.index), &effect)
        case .wireGuard(let message): tunnels.apply(message, &effect)
        case .l2tp(let message): tunnels.apply(message, links, &effect)
        case .team(let message): insert(message, &effect)
        case .routerOption, .traffic, .family, .familiesRequested: break
        case .done, .error, .overrun, .request, .ignored: break
        }
        return effect
    }

    /// Whether an interface is queried for its egress interface, not for its device: its driver's kind is known.
    private func isAskedForEgress(_ index: InterfaceIndex) -> Bool {
        link(index).map { $0.kind != nil || isL2TP($0) } ?? false
    }

    private mutating func insert(
        _ message: RouteMessage,
        _ flags: NetlinkFlags,
        at now: Instant,
        _ effect: inout SnapshotEffect
    ) {
        guard message.isMirrored else { return tunnels.apply(message, links, &effect) }
        // The kernel does not use a route that has expired, though it still lists it.
        routes.noteLifetime(of: message)
        if message.lifetime == .zero { return routes.remove(message, &effect) }
        routes.insert(Route(message, isReply: flags.contains(.multi), at: now, in: self), flags, &effect)
    }

    /// Takes the state of a neighbour; nil if it is forgotten.
    private mutating func note(_ state: NeighbourState?, of message: NeighbourMessage, _ effect: inout SnapshotEffect) {
        let key = NeighbourKey(index: message.index, address: message.address)
        let old =
            if let state { neighbours.updateValue(state, forKey: key) } else { neighbours.removeValue(forKey: key) }
        if old != state { effect.add(.neighbourChanged) }
    }

    private mutating func insert(_ message: TeamMessage, _ effect: inout SnapshotEffect) {
        var new = teams[message.index] ?? .init(index: message.index)
        new.merge(message)
        if teams.updateValue(new, forKey: message.index) != new { effect.add(.linkChanged) }
    }

    private mutating func remove(_ message: NetconfMessage, _ effect: inout SnapshotEffect) {
        let old = settings.removeValue(forKey: .init(message.family, message.index)) ?? .init()
        if old != .init(), message.index != NetconfMessage.defaultInterface { effect.add(.settingChanged) }
    }

    private mutating func insert(_ message: NetconfMessage, _ effect: inout SnapshotEffect) {
        let key = SettingsKey(message.family, message.index)
        let old = settings[key] ?? .init()
        var new = old
        new.merge(message)
        settings[key] = new
        guard old != new else { return }
        guard message.index == NetconfMessage.defaultInterface else { return effect.add(.settingChanged) }
        // `devinet_copy_dflt_conf` gives IPv4's default to all devices on which it was never set, and announces none.
        if message.family == .ipv4, new.ignoresRoutesWithLinkDown != old.ignoresRoutesWithLinkDown {
            effect.markStale(.netconf(.ipv4))
        }
    }

    // MARK: Rules and nexthop objects

    /// Adds the rules for the main and the default table, which every kernel has, to a family without rules.
    mutating func addMissingRules() {
        for family in AddressFamily.allCases where rules(family).isEmpty {
            for (priority, table) in [(32_766, RouteTableID.main), (32_767, .default)] {
                var rule = RuleMessage(family: family)
                rule.priority = UInt32(priority)
                rule.table = table
                var effect = SnapshotEffect()
                if family == .ipv4 { ipv4Rules.insert(rule, &effect) } else { ipv6Rules.insert(rule, &effect) }
            }
        }
    }

    /// Attaches and detaches the rules that name an interface which appears, disappears or is renamed.
    mutating func renameInRules(from old: String?, to new: String?, _ effect: inout SnapshotEffect) {
        ipv4Rules.rename(from: old, to: new, &effect)
        ipv6Rules.rename(from: old, to: new, &effect)
    }

    /// Does what the kernel does when a device is set down, loses its carrier or goes (`nexthop_flush_dev`).
    ///
    /// It announces neither the objects that it removes then, nor the groups that lose a member.
    mutating func removeNexthops(leaving index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        let ids = nexthops.ids(leaving: index)
        if !ids.isEmpty { removeNexthops(ids, &effect) }
    }

    /// Removes nexthop objects and the routes through them.
    ///
    /// The kernel announces the objects when it was asked to remove them; their IPv4 routes never.
    private mutating func removeNexthops(_ ids: [UInt32], _ effect: inout SnapshotEffect) {
        routes.removeRoutes(through: nexthops.remove(ids, &effect), &effect)
    }

    // MARK: Links

    /// Takes `RTM_NEWLINK`: a new interface, or what changed of a known one.
    ///
    /// Messages of other families (`AF_BRIDGE`: a bridge's port) do not describe the link. A wireless event is built
    /// when it happens and sent later from a work queue, so the link in it may be out of date: it is ignored, as the
    /// state that it announces comes in a full message.
    private mutating func insert(_ message: LinkMessage, _ effect: inout SnapshotEffect) {
        guard message.family == Self.unspecifiedFamily, !message.isWirelessEvent else { return }
        // New interfaces have the highest index: the usual case needs no search.
        let isLast = links.last.map { $0.index < message.index } ?? true
        let position = isLast ? links.count : linkInsertion(message.index)
        guard position < links.count, links[position].index == message.index else {
            guard !message.isPartial else { return }
            links.insert(Link(message), at: position)
            // What was known of an interface of the same number before is about another one.
            devices.wireless[message.index]?.association = .unknown
            effect.add(.linkAdded)
            return renameInRules(from: nil, to: message.name, &effect)
        }
        let old = links[position]
        links[position].merge(message)
        if old.isReplaced(by: links[position], isDumped: false) { devices.removeDevice(replacedBy: links[position]) }
        devices.noteCarrier(from: old, to: links[position])
        links[position].noteDifference(from: old, &effect)
        // A message about a change of IFF_UP shows one, even if the state before it is not known.
        let isSetUp = !old.flags.contains(.up) || message.changeMask & LinkFlags.up.rawValue != 0
        follow(old, links[position], isSetUp: isSetUp, &effect)
    }

    /// `AF_UNSPEC`: the family of messages that describe a link itself; others are about bridge ports or IPv6 settings.
    private static let unspecifiedFamily: UInt8 = 0

    /// Takes `RTM_DELLINK`: the interface and all that the kernel kept for it are gone.
    ///
    /// Of family `AF_BRIDGE` it says that a port left its bridge, and the interface is still there.
    private mutating func remove(_ message: LinkMessage, _ effect: inout SnapshotEffect) {
        guard message.family == Self.unspecifiedFamily, let position = linkPosition(message.index) else { return }
        let link = links.remove(at: position)
        effect.add(.linkRemoved)
        removeEverything(of: link, &effect)
    }

    /// Removes what is kept for an interface that is gone, whose index the kernel may give to another interface.
    mutating func removeEverything(of link: Link, _ effect: inout SnapshotEffect) {
        routes.removeRoutes(leaving: link.index, .unregistered, &effect)
        removeNexthops(leaving: link.index, &effect)
        addresses[link.index] = nil
        devices.remove(link.index)
        teams[link.index] = nil
        tunnels.remove(link.index)
        mastersWithUplink.remove(link.index)
        for family in AddressFamily.allCases { settings[.init(family, link.index)] = nil }
        forgetNeighbours(on: [link.index])
        renameInRules(from: link.name, to: nil, &effect)
    }

    /// Forgets the neighbours on some interfaces.
    mutating func forgetNeighbours(on interfaces: Set<InterfaceIndex>) {
        guard neighbours.contains(where: { interfaces.contains($0.key.index) }) else { return }
        neighbours = neighbours.filter { !interfaces.contains($0.key.index) }
    }

    /// Does to routes, nexthops and addresses what the kernel does when a link's state changes.
    ///
    /// Loss is followed whenever a message shows it, not only when it is new: routes may have been read meanwhile.
    private mutating func follow(_ old: Link, _ new: Link, isSetUp: Bool, _ effect: inout SnapshotEffect) {
        if old.name != new.name { renameInRules(from: old.name, to: new.name, &effect) }
        if !old.means(new) { routes.forgetCarriedNextHops(through: new.index) }
        guard new.flags.contains(.up) else {
            routes.removeRoutes(leaving: new.index, .down, &effect)
            removeNexthops(leaving: new.index, &effect)
            return markKeptAddresses(of: new.index)
        }
        // The kernel deletes nexthop objects with the carrier of their device (`nexthop_flush_dev`).
        if new.lacksCarrier(.ipv4) { removeNexthops(leaving: new.index, &effect) }
        if isSetUp {
            routes.reviveNextHops(.ipv4, through: new.index)
        } else if old.lacksCarrier(.ipv4), !new.lacksCarrier(.ipv4) {
            routes.markDeadNextHopsStale(through: new.index, &effect)
        }
        if !new.lacksCarrier(.ipv6), isSetUp || old.lacksCarrier(.ipv6) {
            routes.reviveNextHops(.ipv6, through: new.index)
        }
    }

    /// Whether an interface can carry packets now, by its link and by nl80211.
    func canCarry(linkAt position: Int) -> Bool {
        links[position].canCarry && !devices.isBarred(links[position].index)
    }

    /// Forgets associations because messages were lost: the links alone count.
    mutating func forgetAssociations(_ effect: inout SnapshotEffect) {
        for index in devices.wireless.keys.sorted() { devices.forgetAssociation(of: index, link(index), &effect) }
    }

    /// Whether a link is a session of L2TPv3, which older kernels report by `DEVTYPE` alone.
    package func isL2TP(_ link: Link) -> Bool {
        guard let kind = link.kind else { return devices[link.index]?.deviceType == UeventMessage.l2tpType }
        return kind == "l2tp" || kind == "l2tpeth"
    }

    private func isUp(_ index: InterfaceIndex) -> Bool { link(index)?.flags.contains(.up) ?? true }

    // MARK: Addresses

    /// Takes `RTM_NEWADDR`: a new address, or what changed of a known one.
    private mutating func insert(_ message: AddressMessage, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let known = addresses[message.index]?.firstIndex { $0.isSame(message) }
        if let known {
            guard let old = addresses[message.index]?[known], old != message else { return }
            addresses[message.index]?[known] = message
            message.noteDifference(from: old, &effect)
        } else {
            addresses[message.index, default: []].insert(message, asReply: flags.contains(.multi))
            effect.add(.addressAdded)
            // `fib_inetaddr_event`: an address makes IPv4 usable again on a device that had lost its last.
            if message.address.family == .ipv4, isUp(message.index) {
                routes.reviveNextHops(.ipv4, through: message.index)
            }
        }
    }

    /// Takes `RTM_DELADDR`, and does what the kernel does to routes when an address is gone.
    ///
    /// That is done for an address that is not known, too: it may be missing because the addresses were read after it
    /// was removed, and the routes before.
    private mutating func remove(_ message: AddressMessage, _ effect: inout SnapshotEffect) {
        let index = message.index
        if let known = addresses[index]?.firstIndex(where: { $0.isSame(message) }) {
            effect.add(.addressRemoved)
            if addresses[index]?.removeAndPromote(known) == true { effect.add(.addressChanged) }
            if addresses[index]?.isEmpty == true { addresses[index] = nil }
        }
        followRemoval(of: message.address, from: index, &effect)
    }

    /// Does to routes what the kernel does when an address is gone.
    ///
    /// `rt6_remove_prefsrc` is called for an IPv6 address that is deleted, not for one that goes because its link is down.
    /// The messages do not distinguish these, nor the loss of all IPv6 (`disable_ipv6`, a small MTU).
    mutating func followRemoval(of address: IPAddress, from index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        guard address.family == .ipv6 else {
            if !isLocalIPv4(address) {
                routes.removeRoutes(preferring: address, from: vrfTable(of: index) ?? .main, &effect)
            }
            if !hasIPv4Address(index) { routes.removeRoutes(leaving: index, .withoutIPv4, &effect) }
            return
        }
        // Routes are few, and hardly any names a source; addresses may be thousands.
        guard routes.prefers(address), !isUsableElsewhere(address, than: index) else { return }
        routes.markStale(preferring: address, &effect)
        if isUp(index) { routes.removePreference(for: address, &effect) }
    }

    /// Marks what `keep_addr_on_down` keeps when a device is set down: such addresses are silently tentative again.
    ///
    /// The others are announced as removed.
    private mutating func markKeptAddresses(of index: InterfaceIndex) {
        guard let count = addresses[index]?.count else { return }
        for position in 0..<count {
            guard let address = addresses[index]?[position], address.isKeptWhenDown,
                address.flags.isDisjoint(with: [.tentative, .noDuplicateDetection])
            else { continue }
            addresses[index]?[position].flags.insert(.tentative)
        }
    }

    /// Whether an interface has an IPv4 address; without one, the kernel ends IPv4 on it.
    func hasIPv4Address(_ index: InterfaceIndex) -> Bool {
        addresses[index]?.contains { $0.address.family == .ipv4 } ?? false
    }

    /// Whether the local table still has an IPv4 address; a loopback device's prefixes are local as a whole.
    private func isLocalIPv4(_ address: IPAddress) -> Bool {
        addresses.contains { index, list in
            list.contains { entry in
                if entry.address == address { return true }
                guard entry.address.family == .ipv4, link(index)?.flags.contains(.loopback) == true
                else { return false }
                return IPPrefix(entry.peer ?? entry.address, length: entry.prefixLength).contains(address)
            }
        }
    }

    private func isUsableElsewhere(_ address: IPAddress, than index: InterfaceIndex) -> Bool {
        addresses.contains { other, list in
            other != index && list.contains { $0.address == address && !$0.flags.contains(.tentative) }
        }
    }

    // MARK: Next hops

    /// Returns a route's type: blackhole if its nexthop object has become one, otherwise its own.
    package func type(of route: Route) -> RouteType { nexthops.type(of: route.message) }

    /// Returns a next hop's flags without those that follow from its device's state and settings.
    ///
    /// `RTNH_F_DEAD` is kept if the kernel set it when the device went down, or lost its last address, and has not
    /// cleared it. No new route has it, nor one with a single next hop, which would have been removed. If a missing
    /// carrier could also explain the flag, it is kept only if the device has no address.
    func lastingFlags(ofNextHop position: Int, _ message: RouteMessage, _ isReply: Bool) -> NextHopFlags {
        let nextHop = message.nextHops[position]
        var flags = nextHop.flags.intersection([.dead, .onLink])
        if message.family == .ipv6, isCarried(nextHop) { flags.insert(.carried) }
        guard flags.contains(.dead), hasAmbiguousDeath(nextHop, message.family) else { return flags }
        let isLasting =
            isReply && message.family == .ipv4 && message.nextHops.count > 1 && !hasIPv4Address(nextHop.interface)
        if !isLasting { flags.remove(.dead) }
        return flags
    }

    /// Whether a next hop lacks `RTNH_F_LINKDOWN` because its device has a carrier, and only its state lags behind.
    ///
    /// IPv6 asks for the carrier when it adds a route (`fib6_nh_init`), and for the operational state when it changes.
    private func isCarried(_ nextHop: NextHop) -> Bool {
        guard !nextHop.flags.contains(.linkDown), let link = link(nextHop.interface) else { return false }
        return link.flags.isSuperset(of: [.up, .lowerUp]) && link.lacksCarrier(.ipv6)
    }

    /// Whether a next hop is shown as dead in any case, because its device has no carrier and such routes are ignored.
    func hasAmbiguousDeath(_ nextHop: NextHop, _ family: AddressFamily) -> Bool {
        guard let link = link(nextHop.interface), link.flags.contains(.up) else { return false }
        return link.lacksCarrier(family) && ignoresRoutesWithLinkDown(family, nextHop.interface)
    }

    /// Whether routes through an interface without carrier are skipped.
    ///
    /// IPv4 reads the setting of the interface and of `all` (`IN_DEV_ORCONF`); IPv6 only that of the interface
    /// (`ip6_ignore_linkdown`).
    package func ignoresRoutesWithLinkDown(_ family: AddressFamily, _ index: InterfaceIndex) -> Bool {
        if settings[.init(family, index)]?.ignoresRoutesWithLinkDown == true { return true }
        guard family == .ipv4 else { return false }
        return settings[.init(family, NetconfMessage.allInterfaces)]?.ignoresRoutesWithLinkDown == true
    }
}
