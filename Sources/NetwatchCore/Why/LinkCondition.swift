import ReachabilityCore

/// How close an interface is to being an egress interface; the closest first.
enum LinkCondition: Hashable {
    /// It has a carrier and an address.
    case ready(IPAddress)
    /// Its address is being checked for duplicates.
    case tentative(IPAddress)
    /// Another host has its address.
    case duplicate(AddressMessage)
    /// It gave itself an address, as it received none.
    case linkLocal(IPAddress)
    /// It has no address but the link-local one that every IPv6 interface has.
    case noAddress
    /// It is a Wi-Fi one that is joining a network.
    case associating
    /// It waits for an event such as 802.1X.
    case dormant
    /// It has no carrier.
    case noCarrier
    /// It was not set up, or was set down.
    case down

    /// How near it is to work, 0 for what does.
    var distance: Int {
        switch self {
        case .ready: 0
        case .tentative: 1
        case .duplicate: 2
        case .linkLocal: 3
        case .noAddress: 4
        case .associating: 5
        case .dormant: 6
        case .noCarrier: 7
        case .down: 8
        }
    }
}

extension DiagnosisContext {
    /// The condition of an interface, by one family's addresses or by both.
    func condition(of link: Link, _ family: AddressFamily? = nil) -> LinkCondition {
        fault(of: link) ?? addressing(of: link, family)
    }

    /// Returns why an interface cannot carry packets; nil if it can.
    func fault(of link: Link) -> LinkCondition? {
        guard link.flags.contains(.up) else { return .down }
        let association = snapshot.devices.wireless[link.index].flatMap { $0.isStation ? $0.association : nil }
        let isBarred = association == .associating || association == .disassociated
        if link.canCarry, !isBarred { return nil }
        if association == .associating { return .associating }
        guard link.flags.contains(.lowerUp), !isBarred else { return .noCarrier }
        guard link.operationalState == .dormant || link.flags.contains(.dormant) else { return .noCarrier }
        return kind(link.index) == .wifi ? .associating : .dormant
    }

    /// Returns the condition that follows from an interface's addresses.
    func addressing(of link: Link, _ family: AddressFamily?) -> LinkCondition {
        let all = (snapshot.addresses[link.index] ?? []).filter { family == nil || $0.address.family == family }
        let routable = all.filter { !$0.address.isLinkLocal && !$0.address.isLoopback }
        if let usable = routable.first(where: \.isUsable) { return .ready(usable.address) }
        if let duplicate = routable.first(where: { $0.flags.contains(.duplicate) }) { return .duplicate(duplicate) }
        if let tentative = routable.first { return .tentative(tentative.address) }
        let own = all.first { $0.address.family == .ipv4 && $0.address.isLinkLocal }
        return own.map { .linkLocal($0.address) } ?? .noAddress
    }
}

extension DiagnosisContext {
    /// Returns the sentence about interfaces in the same condition.
    ///
    /// - Parameters:
    ///   - indexes: The interfaces, at least one; more only of those that are down or have no carrier.
    ///   - condition: How they stand.
    ///   - above: The interfaces stacked on them, whose sentences this one ends.
    /// - Returns: The sentence, and what to do about the first.
    func sentence(_ indexes: [InterfaceIndex], _ condition: LinkCondition, above: [InterfaceIndex] = []) -> Sentence {
        guard let first = indexes.first else { return .init("there is no such interface") }
        let name = name(first)
        switch condition {
        case .ready(let address): return missingRoute(name, address)
        case .tentative(let address):
            return .init("\(name)'s address \(address) is being checked for duplicates", fix: "wait a second or two")
        case .duplicate(let address):
            let prefix = "\(address.address)/\(address.prefixLength)"
            return .init(
                "another host uses \(name)'s address \(address.address)",
                fix: "'ip address del \(prefix) dev \(name.shellWord)', and give it another"
            )
        case .linkLocal(let address):
            return .init(
                "no DHCP server answered \(name), which gave itself \(address)",
                fix: "check the DHCP server, then 'dhclient \(name.shellWord)'"
            )
        case .noAddress: return .init("\(name) has a carrier but no address", fix: Self.addressFix(name))
        case .associating:
            return .init(
                "\(name) is joining a WiFi network",
                fix: "wait a second or two; if it lasts, check the passphrase"
            )
        case .dormant:
            return .init(
                "\(name) waits for the network to let it in (802.1X)",
                fix: "check the credentials: 'wpa_cli -i \(name.shellWord) status'"
            )
        case .noCarrier: return noCarrier(indexes, first, above)
        case .down: return down(indexes, first)
        }
    }

    /// How to give an interface an address.
    static func addressFix(_ name: String) -> String {
        "'dhclient \(name.shellWord)', or 'ip address add ADDRESS/LENGTH dev \(name.shellWord)'"
    }

    private func missingRoute(_ name: String, _ address: IPAddress) -> Sentence {
        let text = "there is no default route, though \(name) has the address \(address)"
        let command = RouteCommand.add(address.family, via: "GATEWAY", on: name)
        guard address.family == .ipv6 else { return .init(text, fix: command) }
        return .init(text, fix: "see by 'rdisc6 \(name.shellWord)' whether a router advertises itself, or \(command)")
    }

    private func down(_ indexes: [InterfaceIndex], _ first: InterfaceIndex) -> Sentence {
        let radio = kind(first) == .wifi ? "; if that is refused, 'rfkill unblock wifi'" : ""
        return .init(
            "\(names(indexes)) \(indexes.count > 1 ? "are" : "is") switched off (down)",
            fix: "'ip link set dev \(name(first).shellWord) up'" + radio
        )
    }

    private func noCarrier(
        _ indexes: [InterfaceIndex],
        _ first: InterfaceIndex,
        _ above: [InterfaceIndex]
    ) -> Sentence {
        let have = indexes.count > 1 ? "have" : "has"
        let text = "\(names(indexes)) \(have) no carrier"
        switch kind(first) {
        case .wifi:
            return .init(
                text + ": no WiFi network is joined",
                fix: "'nmcli device wifi connect SSID ifname \(name(first).shellWord)'"
            )
        case .cellular:
            return .init(text + ": the modem is not connected", fix: "'mmcli -m any --simple-connect=apn=APN'")
        case .wired: return .init(text, fix: "plug in the cable, and look at what is at its other end")
        default: return stacked(first, text, above)
        }
    }

    /// The height of a stack from which no lower interfaces are named; no sensible one is as high.
    private static let maximumHeight = 8

    /// Returns the sentence about a stacked interface, which lacks the carrier of a lower one.
    ///
    /// Two interfaces may be below each other: each end of a netkit pair has the other as its `IFLA_LINK`.
    private func stacked(_ index: InterfaceIndex, _ text: String, _ above: [InterfaceIndex]) -> Sentence {
        guard above.count < Self.maximumHeight, !above.contains(index), let link = snapshot.link(index)
        else { return .init(text) }
        let above = above + [index]
        let ports = snapshot.links.filter { $0.masterIndex == index }.map(\.index)
        if !ports.isEmpty {
            return .init("\(text), as none of its ports has one: \(names(ports))", fix: portFix(ports, above))
        }
        switch link.kind {
        case "bridge", "bond", "team":
            return .init("\(text), as it has no ports", fix: "'ip link set dev PORT master \(name(index).shellWord)'")
        case "veth": return .init("\(text), as its other end is down", fix: "set its other end up")
        default: break
        }
        guard link.lowerNamespace == nil, let lower = link.lowerIndex.flatMap(snapshot.link),
            !above.contains(lower.index), let fault = fault(of: lower)
        else { return .init(text) }
        let beneath = sentence([lower.index], fault, above: above)
        return .init("\(text), as \(beneath.text)", fix: beneath.fix)
    }

    /// Returns the fix for the port that is closest to working.
    private func portFix(_ ports: [InterfaceIndex], _ above: [InterfaceIndex]) -> String? {
        let conditions = ports.compactMap { port in
            snapshot.link(port).flatMap { link in fault(of: link).map { (link.index, $0) } }
        }
        return conditions.min { $0.1.distance < $1.1.distance }.flatMap { sentence([$0.0], $0.1, above: above).fix }
    }
}
