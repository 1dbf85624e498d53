import ReachabilityCore

extension WhyScene {
    /// What is wrong with interfaces that all stand the same way.
    ///
    /// - Parameters:
    ///   - indexes: The interfaces, at least one; more only of those that are down or have no carrier.
    ///   - condition: How they stand.
    /// - Returns: The sentence, and what to do about the first.
    func sentence(_ indexes: [InterfaceIndex], _ condition: LinkCondition) -> Sentence {
        guard let first = indexes.first else { return .init("there is no such interface") }
        let name = name(first)
        switch condition {
        case .ready(let address): return missingRoute(name, address)
        case .tentative(let address):
            return .init("\(name)'s address \(address) is being checked for duplicates", cure: "wait a second or two")
        case .duplicate(let address):
            let prefix = "\(address.address)/\(address.prefixLength)"
            return .init(
                "another host uses \(name)'s address \(address.address)",
                cure: "'ip address del \(prefix) dev \(name.shellWord)', and give it another"
            )
        case .linkLocal(let address):
            return .init(
                "no DHCP server answered \(name), which gave itself \(address)",
                cure: "check the DHCP server, then 'dhclient \(name.shellWord)'"
            )
        case .noAddress:
            return .init("\(name) has a carrier but no address", cure: Self.addressCure(name))
        case .associating:
            return .init(
                "\(name) is joining a WiFi network",
                cure: "wait a second or two; if it lasts, check the passphrase"
            )
        case .dormant:
            return .init(
                "\(name) waits for the network to let it in (802.1X)",
                cure: "check the credentials: 'wpa_cli -i \(name.shellWord) status'"
            )
        case .noCarrier: return noCarrier(indexes, first)
        case .down: return down(indexes, first)
        }
    }

    /// How to give an interface an address.
    static func addressCure(_ name: String) -> String {
        "'dhclient \(name.shellWord)', or 'ip address add ADDRESS/LENGTH dev \(name.shellWord)'"
    }

    private func missingRoute(_ name: String, _ address: IPAddress) -> Sentence {
        let text = "there is no default route, though \(name) has the address \(address)"
        let command = RouteCommand.add(address.family, via: "GATEWAY", on: name)
        guard address.family == .ipv6 else { return .init(text, cure: command) }
        return .init(text, cure: "see by 'rdisc6 \(name.shellWord)' whether a router advertises itself, or \(command)")
    }

    private func down(_ indexes: [InterfaceIndex], _ first: InterfaceIndex) -> Sentence {
        let radio = kind(first) == .wifi ? "; if that is refused, 'rfkill unblock wifi'" : ""
        return .init(
            "\(names(indexes)) \(indexes.count > 1 ? "are" : "is") switched off (down)",
            cure: "'ip link set dev \(name(first).shellWord) up'" + radio
        )
    }

    private func noCarrier(_ indexes: [InterfaceIndex], _ first: InterfaceIndex) -> Sentence {
        let have = indexes.count > 1 ? "have" : "has"
        let text = "\(names(indexes)) \(have) no carrier"
        switch kind(first) {
        case .wifi:
            return .init(
                text + ": no WiFi network is joined",
                cure: "'nmcli device wifi connect SSID ifname \(name(first).shellWord)'"
            )
        case .cellular:
            return .init(text + ": the modem is not connected", cure: "'mmcli -m any --simple-connect=apn=APN'")
        case .wired: return .init(text, cure: "plug in the cable, and look at what is at its other end")
        default: return stacked(first, text)
        }
    }

    /// What has no hardware of its own has no carrier for want of one beneath.
    private func stacked(_ index: InterfaceIndex, _ text: String) -> Sentence {
        guard let link = snapshot.link(index) else { return .init(text) }
        let ports = snapshot.links.filter { $0.masterIndex == index }.map(\.index)
        if !ports.isEmpty {
            return .init("\(text), as none of its ports has one: \(names(ports))", cure: portCure(ports))
        }
        switch link.kind {
        case "bridge", "bond", "team":
            return .init("\(text), as it has no ports", cure: "'ip link set dev PORT master \(name(index).shellWord)'")
        case "veth": return .init("\(text), as its other end is down", cure: "set its other end up")
        default: break
        }
        guard link.lowerNamespace == nil, let lower = link.lowerIndex.flatMap(snapshot.link),
            let fault = fault(of: lower)
        else { return .init(text) }
        let beneath = sentence([lower.index], fault)
        return .init("\(text), as \(beneath.text)", cure: beneath.cure)
    }

    /// What to do about the port that is nearest to work.
    private func portCure(_ ports: [InterfaceIndex]) -> String? {
        let conditions = ports.compactMap { port in
            snapshot.link(port).flatMap { link in fault(of: link).map { (link.index, $0) } }
        }
        return conditions.min { $0.1.distance < $1.1.distance }.flatMap { sentence([$0.0], $0.1).cure }
    }
}
