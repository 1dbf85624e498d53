/// Finds the physical interfaces beneath an interface: under bridges, bonds, VLANs, VRFs and tunnels.
struct CarrierResolver {
    private let model: LookupModel
    private let context: EvaluationContext
    /// The interfaces that were met on the way down; what leads to one of them again leads nowhere.
    private var visited: [InterfaceIndex] = []
    /// What was found.
    private(set) var carriers: [NetworkInterface] = []
    /// What is wrong with it.
    private(set) var reasons: [Reason] = []
    /// The tunnels on the way, beneath which a path had to be found.
    private(set) var tunnels: [InterfaceIndex] = []
    /// Why nothing beneath a tunnel can carry its packets, if that is so.
    private(set) var fault: Reason?

    init(_ model: LookupModel, _ context: EvaluationContext) {
        self.model = model
        self.context = context
    }

    /// The description of an interface, or nil if it is not in the model.
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

    /// Adds the carriers of an interface.
    ///
    /// What has nothing physical beneath is its own carrier. An interface that the user's rules name a physical kind
    /// is taken at their word.
    mutating func resolve(_ interface: NetworkInterface) {
        guard !visited.contains(interface.index), let link = model.snapshot.link(interface.index) else { return }
        visited.append(interface.index)
        if interface.isEndOfStack(model) { return end(at: link, interface) }
        let before = carriers.count
        descend(link, interface)
        if carriers.count == before { add(interface) }
    }

    /// Adds a physical interface, unless it is known to lead nowhere.
    private mutating func end(at link: Link, _ interface: NetworkInterface) {
        if interface.isOwnAccessPoint(model) { return fail(.accessPoint) }
        if let modem = link.multiplexedModem, let fault = fault(of: modem) { return fail(fault) }
        add(interface)
    }

    private mutating func descend(_ link: Link, _ interface: NetworkInterface) {
        if link.kind == "veth" { return }
        if link.lowerNamespace != nil, link.lowerIndex != nil {
            note(.carrierElsewhere)
        } else if let lower = link.lowerIndex, lower != link.index, model.snapshot.linkPosition(lower) != nil {
            if interface.kind == .tunnel { settle(on: lower) } else { resolve(lower) }
        } else if interface.kind == .tunnel {
            resolveBeneath(link)
        } else {
            resolveMembers(of: link)
        }
    }

    private mutating func resolve(_ index: InterfaceIndex) {
        guard let interface = Self.describe(index, model, context) else { return }
        resolve(interface)
    }

    /// The members of a bridge, team, bond or VRF; of a bond, those that carry traffic.
    private mutating func resolveMembers(of link: Link) {
        if link.kind == "team" { return resolvePorts(ofTeam: link) }
        if let active = link.bondActivePort, active != 0, model.snapshot.linkPosition(active) != nil {
            return resolve(active)
        }
        let members = members(of: link)
        let active = members.filter { $0.bondPortIsActive == true }
        for member in active.isEmpty ? members : active { resolve(member.index) }
        dropVirtual(among: members)
    }

    /// The ports by which a team's driver sends: the active one, or all that are enabled, if the driver told.
    ///
    /// Who may not ask the driver (it takes `CAP_NET_ADMIN`) learns of the active port as it changes.
    private mutating func resolvePorts(ofTeam link: Link) {
        tunnels.append(link.index)
        let team = model.snapshot.teams[link.index]
        if let active = team?.activePort { return active == 0 ? fail(.noCarrier) : settle(on: active) }
        let ports = members(of: link).filter { team?.enabledPorts[$0.index] ?? true }
        guard !ports.isEmpty else { return fail(.noCarrier) }
        for port in ports { resolve(port.index) }
        // Any of them may be the one.
        if ports.count > 1, team?.mode ?? TeamMessage.activeBackup == TeamMessage.activeBackup { note(.carrierUnknown) }
    }

    /// The members that can carry packets out of this machine: not an access point of its own, if there are others.
    private func members(of link: Link) -> [Link] {
        let members = model.snapshot.links.filter { $0.masterIndex == link.index && $0.canCarry }
        let uplinks = members.filter { member in
            Self.describe(member.index, model, context).map { !$0.isOwnAccessPoint(model) } ?? false
        }
        return uplinks.isEmpty ? members : uplinks
    }

    /// Where a member is physical, those that are not lead to containers and virtual machines, not out.
    private mutating func dropVirtual(among members: [Link]) {
        guard carriers.contains(where: { $0.kind.isPhysical }) else { return }
        carriers.removeAll { carrier in
            !carrier.kind.isPhysical && members.contains { $0.index == carrier.index }
        }
    }

    /// Beneath a tunnel lies the path to its endpoint, as the kernel said; as long as that is not known, the best default
    /// path that does not go through the tunnel.
    private mutating func resolveBeneath(_ link: Link) {
        tunnels.append(link.index)
        if link.lowerNamespace != nil { return note(.carrierElsewhere) }
        let endpoint = model.snapshot.endpoint(of: link)
        if let endpoint, let way = knownWay(to: endpoint) {
            guard let way else { return fail(.noRoute) }
            return settle(on: way)
        }
        let ways = ways(to: endpoint)
        guard let first = ways.first else { return note(.carrierUnknown) }
        settle(on: ways.first { fault(of: $0) == nil } ?? first)
    }

    /// The interface by which the kernel sends to an endpoint, or that there is none; nil if nothing is known.
    ///
    /// What a tunnel hands to a program of this host, or to itself, leaves by other ways.
    private func knownWay(to endpoint: TunnelEndpoint) -> InterfaceIndex?? {
        guard let way = model.snapshot.tunnelWays[endpoint.address] else { return nil }
        guard let way else { return .some(nil) }
        guard way != LookupModel.loopbackIndex, !visited.contains(way) else { return nil }
        return model.snapshot.linkPosition(way) == nil ? nil : way
    }

    /// The default paths of the endpoint's family, or of both.
    private func ways(to endpoint: TunnelEndpoint?) -> [InterfaceIndex] {
        let families = endpoint.map { [$0.address.family] } ?? AddressFamily.allCases
        return families.compactMap { way(out: $0, marked: endpoint?.mark ?? 0) }
    }

    /// Goes on with the interface beneath; a tunnel over one that can't carry leads nowhere.
    private mutating func settle(on index: InterfaceIndex) {
        if let fault = fault(of: index) { return fail(fault) }
        resolve(index)
    }

    private func fault(of index: InterfaceIndex) -> Reason? {
        guard let position = model.snapshot.linkPosition(index) else { return .interfaceDown }
        return LegJudgement.fault(ofLinkAt: position, model)
    }

    private mutating func fail(_ reason: Reason) { fault = fault ?? reason }

    /// The interface of a family's default path: as the rules lead, or, where they lead nowhere, as table main says.
    ///
    /// A tunnel's own packets are often marked to pass by the rules that lead everybody else into it, so that its path
    /// is in main although the rules seem to end before.
    private func way(out family: AddressFamily, marked mark: UInt32) -> InterfaceIndex? {
        guard let probe = ProbeAddresses.of(family).first else { return nil }
        let detour = LookupModel(model.snapshot, at: model.now, excluding: visited)
        var flow = ProbeFlow(to: probe, user: context.user)
        flow.mark = mark
        if case .selected(let selection) = Connection.run(flow, detour).outcome, leads(selection) {
            return selection.leg.interface
        }
        guard case .found(let route) = detour.answer(to: flow, from: .main),
            case .selected(let selection) = route.outcome(detour), leads(selection)
        else { return nil }
        return selection.leg.interface
    }

    private func leads(_ selection: RouteSelection) -> Bool {
        selection.type == .unicast && selection.leg.interface != LookupModel.loopbackIndex
    }

    private mutating func add(_ interface: NetworkInterface) {
        if let doubt = model.snapshot.doubt(about: interface) { note(doubt) }
        if !carriers.contains(interface) { carriers.append(interface) }
    }

    private mutating func note(_ reason: Reason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}

extension NetworkInterface {
    /// Whether this is an access point of this machine's own, which leads to its clients.
    ///
    /// The user's rules may name it an uplink, as there are access points whose client is the gateway.
    func isOwnAccessPoint(_ model: LookupModel) -> Bool {
        guard kind == .wifi, kindSource != .rule else { return false }
        return model.snapshot.wireless[index]?.mode?.isAccessPoint ?? false
    }

    /// Whether the interface carries its packets by itself, and nothing but its own state decides whether it can.
    func carriesAlone(_ model: LookupModel) -> Bool {
        guard kind != .other, isEndOfStack(model), !isOwnAccessPoint(model) else { return false }
        return model.snapshot.link(index)?.multiplexedModem == nil
    }

    /// Whether there is nothing to look for beneath: hardware, or what the user's rules call so.
    ///
    /// A kind of device that is not known may be a stack of its own.
    func isEndOfStack(_ model: LookupModel) -> Bool {
        guard kind.isPhysical else { return false }
        if kind != .other || kindSource == .rule { return true }
        return model.snapshot.linkPosition(index).map { model.snapshot.links[$0].kind == nil } ?? true
    }
}

extension Link {
    /// The interface of the modem beneath one of its data sessions (`rmnet`); nil for any other interface.
    ///
    /// The kernel leaves a session up when its modem is set down or loses its carrier.
    fileprivate var multiplexedModem: InterfaceIndex? {
        kind == "rmnet" && lowerNamespace == nil ? lowerIndex : nil
    }
}
