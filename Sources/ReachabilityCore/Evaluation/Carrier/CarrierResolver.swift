/// Finds the physical interfaces that carry an interface: below bridges, bonds, VLANs, VRFs and tunnels.
struct CarrierResolver {
    /// The maximum height of a stack.
    ///
    /// The kernel allows 8 (`MAX_NEST_DEV`, `include/linux/netdevice.h`), not counting tunnels; a capture may list more.
    private static let maximumHeight = 64
    private let model: LookupModel
    private let context: EvaluationContext
    /// The interfaces from the first one down to the one whose lower interfaces are being resolved.
    private var stack: [InterfaceIndex] = []
    /// The interfaces that were resolved: several may be above the same one.
    ///
    /// In a cycle, the result depends on the interface that is resolved first.
    private var resolved: [InterfaceIndex: Branch] = [:]
    /// The carriers found.
    private(set) var carriers: [NetworkInterface] = []
    /// The reasons why they are uncertain or limited.
    private(set) var reasons: [ReachabilityReason] = []
    /// The tunnels above the carriers, for whose own packets a path had to be found.
    private(set) var tunnels: [InterfaceIndex] = []
    /// Why no carrier can carry packets; nil if one can.
    private(set) var fault: ReachabilityReason?

    /// The carriers of one interface.
    private struct Branch {
        /// The physical interfaces, whether or not they can carry packets.
        var carriers: [NetworkInterface] = []
        /// Why packets do not get through; nil if they do.
        var fault: ReachabilityReason?
    }

    init(_ model: LookupModel, _ context: EvaluationContext) {
        self.model = model
        self.context = context
    }

    /// Returns the description of an interface; nil if it is not in the model.
    static func describe(
        _ index: InterfaceIndex,
        _ model: LookupModel,
        _ context: EvaluationContext
    ) -> NetworkInterface? {
        guard let position = model.snapshot.linkPosition(index) else { return nil }
        let classifier = KindClassifier(rules: context.kindRules)
        let (kind, source) = classifier.classify(model.snapshot.links[position], in: model.snapshot)
        return .init(index: index, name: model.snapshot.links[position].name, kind: kind, kindSource: source)
    }

    /// Finds the carriers of an interface.
    ///
    /// An interface without physical interfaces below is its own carrier, and so is one that the user's rules assign a
    /// physical kind.
    mutating func resolve(_ interface: NetworkInterface) {
        let branch = branch(beneath: interface)
        carriers = branch.carriers
        fault = branch.fault
    }

    private mutating func branch(beneath interface: NetworkInterface) -> Branch {
        guard let link = model.snapshot.link(interface.index) else { return .init() }
        if interface.isEndOfStack(model) { return end(with: interface) }
        stack.append(interface.index)
        defer { stack.removeLast() }
        var branch = descend(link, interface)
        if branch.carriers.isEmpty { branch.carriers = end(with: interface).carriers }
        return branch
    }

    private mutating func descend(_ link: Link, _ interface: NetworkInterface) -> Branch {
        if link.kind == "veth" { return .init() }
        if link.lowerNamespace != nil {
            note(.carrierElsewhere)
            return .init()
        }
        if interface.kind == .tunnel { return beneathTunnel(link) }
        guard let lower = link.lowerIndex, lower != link.index, model.snapshot.linkPosition(lower) != nil else {
            return beneathPorts(of: link)
        }
        return passage(through: lower)
    }

    /// Returns the carriers of an interface that has to carry packets now.
    private mutating func passage(through index: InterfaceIndex) -> Branch {
        guard !stack.contains(index) else { return .init(fault: isInTunnel ? .tunnelLoop : nil) }
        if let branch = resolved[index] { return branch }
        guard let interface = Self.describe(index, model, context) else { return .init() }
        guard stack.count < Self.maximumHeight else {
            note(.carrierUnknown)
            return .init()
        }
        var branch = branch(beneath: interface)
        branch.fault = ownFault(of: index) ?? branch.fault
        resolved[index] = branch
        return branch
    }

    /// Whether the carriers of a tunnel are being resolved.
    private var isInTunnel: Bool { stack.contains { tunnels.contains($0) } }

    /// Returns why an interface itself is unusable, whatever its carriers.
    private func ownFault(of index: InterfaceIndex) -> ReachabilityReason? {
        guard let position = model.snapshot.linkPosition(index) else { return .interfaceDown }
        return Usability.fault(ofLinkAt: position, model)
    }

    private mutating func end(with interface: NetworkInterface) -> Branch {
        if let reason = KindClassifier.uncertainty(about: interface, model.snapshot.devices) { note(reason) }
        return .init(carriers: [interface], fault: endFault(of: interface))
    }

    /// Returns why a physical interface with a carrier is unusable nevertheless; nil if it is usable.
    private func endFault(of interface: NetworkInterface) -> ReachabilityReason? {
        if interface.isOwnAccessPoint(model) { return .accessPoint }
        return model.snapshot.link(interface.index)?.multiplexedModem.flatMap(ownFault)
    }

    private mutating func note(_ reason: ReachabilityReason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}

// MARK: - Beneath bridges, bonds, teams and VRFs

extension CarrierResolver {
    /// Returns the carriers of the ports that carry traffic: a bond's active one, otherwise any that can carry packets.
    private mutating func beneathPorts(of link: Link) -> Branch {
        let ports = model.snapshot.links.filter { $0.masterIndex == link.index }
        if link.kind == "team" { return beneathTeam(link, ports) }
        if let active = link.bondActivePort, active != 0, model.snapshot.linkPosition(active) != nil {
            var branch = passage(through: active)
            if isReplaced(active, among: ports, by: link) { branch.fault = nil }
            return branch
        }
        let active = ports.filter { $0.bondPortIsActive == true }
        guard active.isEmpty else { return any(of: active) }
        let hadUplink = model.snapshot.mastersWithUplink.contains(link.index)
        guard link.kind == "bridge", hadUplink || ports.contains(where: leadsOut) else { return any(of: ports) }
        let outward = ports.filter { !leadsElsewhere($0) }
        return outward.isEmpty ? .init(fault: .noCarrier) : any(of: outward)
    }

    /// Returns the carriers of the ports by which a team sends: the active one, or all that are enabled, if they are
    /// known.
    ///
    /// A process that may not ask the driver (that requires `CAP_NET_ADMIN`) receives the active port when it changes.
    private mutating func beneathTeam(_ link: Link, _ ports: [Link]) -> Branch {
        tunnels.append(link.index)
        let team = model.snapshot.teams[link.index]
        if let active = team?.activePort { return active == 0 ? .init(fault: .noCarrier) : passage(through: active) }
        let usable = ports.filter { (team?.enabledPorts[$0.index] ?? true) && ownFault(of: $0.index) == nil }
        guard !usable.isEmpty else { return .init(fault: .noCarrier) }
        // Any of them may be the active one.
        let isOpen = team?.mode ?? TeamMessage.activeBackup == TeamMessage.activeBackup
        if isOpen, usable.count > 1 { note(.carrierUnknown) }
        return any(of: usable)
    }

    /// Whether a bond is about to use another port, because its active one has lost its carrier.
    ///
    /// It takes the bond some milliseconds (`miimon`): that is no outage. A port that has a carrier and waits, such
    /// as a station that associates, stays the active one.
    private func isReplaced(_ active: InterfaceIndex, among ports: [Link], by bond: Link) -> Bool {
        guard bond.bondReplacesPorts, let fault = ownFault(of: active), fault == .noCarrier || fault == .interfaceDown
        else { return false }
        return ports.contains { $0.index != active && ownFault(of: $0.index) == nil }
    }

    /// Returns the carriers of the usable ports; if none is usable, the first one's fault counts.
    private mutating func any(of ports: [Link]) -> Branch {
        let branches = ports.map { passage(through: $0.index) }
        let usable = branches.filter { $0.fault == nil }
        guard !usable.isEmpty else {
            return .init(carriers: branches.first?.carriers ?? [], fault: branches.first?.fault)
        }
        var carriers: [NetworkInterface] = []
        for carrier in usable.flatMap(\.carriers) where !carriers.contains(carrier) { carriers.append(carrier) }
        // If a port is physical, those that are not lead to containers and virtual machines, not out.
        let physical = carriers.filter { carrier in
            carrier.kind.isPhysical || !ports.contains { $0.index == carrier.index }
        }
        return .init(carriers: physical.contains { $0.kind.isPhysical } ? physical : carriers)
    }

    private func leadsOut(_ port: Link) -> Bool {
        UplinkPort.leadsOut(port, in: model.snapshot, rules: context.kindRules)
    }

    /// Whether a port ends at another network namespace, or at a program such as a virtual machine.
    private func leadsElsewhere(_ port: Link) -> Bool {
        guard !leadsOut(port) else { return false }
        return port.kind != "veth" || port.lowerNamespace != nil
    }
}

/// A bridge's port that leads out of the machine, over hardware or over what may have hardware below.
enum UplinkPort {
    /// The `IFLA_INFO_KIND` of interfaces that end at a network namespace, at a program, or have no other end.
    private static let inward: Set<String> = ["veth", "netkit", "vxcan", "tun", "dummy", "ifb", "nlmon"]

    /// Whether a port leads out of the machine; the user's rules decide first.
    static func leadsOut(_ port: Link, in snapshot: NetworkSnapshot, rules: [KindRule]) -> Bool {
        let (kind, _) = KindClassifier(rules: rules).classify(port, in: snapshot)
        if kind.isPhysical { return true }
        return port.kind.map { !inward.contains($0) } ?? false
    }

    /// Remembers the masters of all links that lead out of the machine.
    static func noteAll(in snapshot: inout NetworkSnapshot, rules: [KindRule]) {
        for link in snapshot.links { note(link, in: &snapshot, rules: rules) }
    }

    /// Remembers the master of a link that leads out of the machine.
    static func note(_ link: Link, in snapshot: inout NetworkSnapshot, rules: [KindRule]) {
        guard let master = link.masterIndex, !snapshot.mastersWithUplink.contains(master) else { return }
        if leadsOut(link, in: snapshot, rules: rules) { snapshot.mastersWithUplink.insert(master) }
    }
}

// MARK: - Beneath tunnels

extension CarrierResolver {
    /// Returns the carriers of a tunnel: the path to its endpoint, as the kernel reported; if that is not known, the
    /// interface that it is bound to, or the best default path that does not lead through the tunnel.
    private mutating func beneathTunnel(_ link: Link) -> Branch {
        let endpoint = model.snapshot.tunnels.endpoint(of: link)
        if endpoint != nil || link.lowerIndex == nil { tunnels.append(link.index) }
        if let endpoint, let egress = model.snapshot.tunnels.egress[endpoint] {
            guard let egress else { return .init(fault: .noRoute) }
            // The kernel drops packets of a tunnel that would enter it again.
            if stack.contains(egress) { return .init(fault: .tunnelLoop) }
            // Packets that a tunnel passes to a program of this host leave through other interfaces.
            let isKnown = egress != LookupModel.loopbackIndex && model.snapshot.linkPosition(egress) != nil
            if isKnown { return passage(through: egress) }
        }
        if let lower = link.lowerIndex, lower != link.index, model.snapshot.linkPosition(lower) != nil {
            return passage(through: lower)
        }
        return beneathDefaultPath(to: endpoint)
    }

    private mutating func beneathDefaultPath(to endpoint: TunnelEndpoint?) -> Branch {
        let families = endpoint.map { [$0.address.family] } ?? AddressFamily.allCases
        let egresses = families.compactMap { defaultEgress($0, endpoint) }
        guard let first = egresses.first else {
            note(.carrierUnknown)
            return .init()
        }
        return passage(through: egresses.first { ownFault(of: $0) == nil } ?? first)
    }

    /// Returns the interface of a family's default path: by the rules, or, if they have no result, by table main.
    ///
    /// A tunnel's own packets are often marked to skip the rules that lead all others into it, so that its path
    /// is in main although the rules seem to end before.
    private func defaultEgress(_ family: AddressFamily, _ endpoint: TunnelEndpoint?) -> InterfaceIndex? {
        guard let probe = ProbeAddresses.of(family).first else { return nil }
        let detour = LookupModel(model.snapshot, at: model.now, excluding: stack)
        var flow = endpoint?.flow(to: probe, user: context.user) ?? ProbeFlow(to: probe, user: context.user)
        flow.interface = nil
        if case .selected(let selection) = Connection.run(flow, detour).outcome, leads(selection) {
            return selection.nextHop.interface
        }
        guard case .found(let route) = detour.lookup(flow, in: .main),
            case .selected(let selection) = route.outcome(detour), leads(selection)
        else { return nil }
        return selection.nextHop.interface
    }

    private func leads(_ selection: RouteSelection) -> Bool {
        selection.type == .unicast && selection.nextHop.interface != LookupModel.loopbackIndex
    }
}

extension NetworkInterface {
    /// Whether this is an access point of this machine's own, which leads to its clients.
    ///
    /// The user's rules may name it an uplink, as there are access points whose client is the gateway.
    func isOwnAccessPoint(_ model: LookupModel) -> Bool {
        guard kind == .wifi, kindSource != .rule else { return false }
        return model.snapshot.devices.wireless[index]?.mode?.isAccessPoint ?? false
    }

    /// Whether the interface carries its packets by itself, and nothing but its own state decides whether it can.
    func carriesAlone(_ model: LookupModel) -> Bool {
        guard kind != .other, isEndOfStack(model), !isOwnAccessPoint(model) else { return false }
        return model.snapshot.link(index)?.multiplexedModem == nil
    }

    /// Whether the interface has no lower interfaces: hardware, or what the user's rules call so.
    ///
    /// A kind of device that is not known may be a stack of its own.
    func isEndOfStack(_ model: LookupModel) -> Bool {
        guard kind.isPhysical else { return false }
        if kind != .other || kindSource == .rule { return true }
        return model.snapshot.linkPosition(index).map { model.snapshot.links[$0].kind == nil } ?? true
    }
}

extension Link {
    /// The interface of the modem below one of its data sessions (`rmnet`); nil for any other interface.
    ///
    /// The kernel leaves a session up when its modem is set down or loses its carrier.
    fileprivate var multiplexedModem: InterfaceIndex? {
        kind == "rmnet" && lowerNamespace == nil ? lowerIndex : nil
    }
}

/// Whether an interface or a source can be used, and if not why.
enum Usability {
    /// Returns why an interface is unusable; nil if it can carry packets.
    static func fault(ofLinkAt position: Int, _ model: LookupModel) -> ReachabilityReason? {
        let flags = model.snapshot.links[position].flags
        if flags.contains(.loopback) { return .loopbackPath }
        if model.snapshot.canCarry(linkAt: position) { return nil }
        guard flags.contains(.up) else { return .interfaceDown }
        let link = model.snapshot.links[position]
        if model.snapshot.devices.isAssociating(link) { return .associating }
        if model.snapshot.devices.mayBeAssociating(link) { return .deviceProbing }
        // A supplicant that has lost its network may say dormant before the kernel says down, or after.
        guard flags.contains(.lowerUp), !model.snapshot.devices.isBarred(link.index) else { return .noCarrier }
        return link.operationalState == .dormant || flags.contains(.dormant) ? .dormant : .noCarrier
    }

    /// Returns why the source that the kernel selected is unusable; nil if it can be used.
    static func fault(ofSourceOf nextHop: SelectedNextHop, _ model: LookupModel) -> ReachabilityReason? {
        guard let source = nextHop.source, !source.isUnspecified else { return waiting(nextHop, model) ?? .noSource }
        if nextHop.hasMappedSource { return .noSource }
        if source.isLoopback { return waiting(nextHop, model) ?? .loopbackSource }
        if source.isLinkLocal { return waiting(nextHop, model) ?? .linkLocalSource }
        return source.family == .ipv6 && isTentative(source, nextHop.interface, model) ? .tentativeSource : nil
    }

    /// Returns the reason if an address that would be usable is still being checked for duplicates, so that it was not
    /// selected.
    private static func waiting(_ nextHop: SelectedNextHop, _ model: LookupModel) -> ReachabilityReason? {
        let isWaiting = model.snapshot.addresses[nextHop.interface]?.contains {
            $0.isWaiting && !$0.address.isLinkLocal
        }
        return isWaiting == true ? .tentativeSource : nil
    }

    /// Whether a source is tentative, wherever it is found; most are on the interface itself.
    private static func isTentative(_ source: IPAddress, _ index: InterfaceIndex, _ model: LookupModel) -> Bool {
        if let own = model.snapshot.addresses[index], let isWaiting = isWaiting(source, in: own) { return isWaiting }
        let others = model.snapshot.addresses.values.lazy.compactMap { isWaiting(source, in: $0) }
        return !others.isEmpty && !others.contains(false)
    }

    /// Whether an address is tentative; nil if it is not among an interface's.
    private static func isWaiting(_ address: IPAddress, in addresses: [AddressMessage]) -> Bool? {
        for index in addresses.indices where addresses[index].address == address { return addresses[index].isWaiting }
        return nil
    }
}

extension AddressMessage {
    /// Whether duplicate address detection still forbids to use it (RFC 4862, 5.4; RFC 4429).
    fileprivate var isWaiting: Bool { flags.contains(.tentative) && !flags.contains(.optimistic) }
}
