import NetworkLab
import ReachabilityCore

/// Draws rules, nexthop objects, neighbours, settings, uevents and requests in the decoder's form.
extension SeededGenerator {
    mutating func rule() -> RuleMessage {
        var rule = RuleMessage(family: family())
        rule.priority = number()
        rule.action = .init(rawValue: number())
        rule.table = .init(rawValue: number())
        rule.source = prefix(rule.family)
        rule.destination = prefix(rule.family)
        rule.tos = number()
        rule.inputInterface = maybe { $0.name() }
        rule.outputInterface = maybe { $0.name() }
        rule.suppressPrefixLength = maybe { .random(in: 0...128, using: &$0) }
        rule.suppressInterfaceGroup = maybe { .random(in: 0 ..< .max, using: &$0) }
        rule.gotoPriority = maybe { $0.number() }
        rule.isL3Master = flip()
        rule.tunnelID = number()
        rule.origin = number()
        rule.flags = .init(rawValue: number())
        drawSelectors(&rule)
        return rule
    }

    private mutating func drawSelectors(_ rule: inout RuleMessage) {
        rule.mark = .init(value: number(), mask: number())
        rule.dscp = maybe { .init(value: $0.number(), mask: $0.number()) }
        rule.flowLabel = maybe { .init(value: $0.number(), mask: $0.number()) }
        rule.ipProtocol = maybe { .random(in: 1 ... .max, using: &$0) }
        rule.sourcePorts = maybe { $0.ports() }
        rule.destinationPorts = maybe { $0.ports() }
        // The whole range stands for anyone, and is nil.
        rule.users = maybe { generator in
            let last: UInt32 = .random(in: 0 ..< .max, using: &generator)
            return .random(in: 0...last, using: &generator)...last
        }
    }

    private mutating func ports() -> PortRange {
        .init(first: number(), last: number(), mask: maybe { .random(in: 1 ... .max, using: &$0) })
    }

    mutating func nexthop() -> NexthopMessage {
        var nexthop = NexthopMessage(id: number())
        nexthop.family = maybe { $0.family() }
        nexthop.isBlackhole = flip()
        nexthop.isForwardingDatabase = flip()
        nexthop.group = list { .init(id: $0.number(), weight: .random(in: 1 ... .max, using: &$0)) }
        guard flip() else { return nexthop }
        nexthop.nextHop = .init(interface: number(), flags: .init(rawValue: number()))
        if let family = nexthop.family { nexthop.nextHop?.gateway = maybe { $0.address(family) } }
        return nexthop
    }

    mutating func neighbour() -> NeighbourMessage {
        let family = family()
        return .init(index: number(), address: address(family), state: .init(rawValue: number()))
    }

    mutating func netconf() -> NetconfMessage {
        var netconf = NetconfMessage(family: family(), index: number())
        netconf.forwarding = maybe { $0.flip() }
        netconf.ignoresRoutesWithLinkDown = maybe { $0.flip() }
        return netconf
    }

    mutating func uevent() -> UeventMessage {
        let actions: [UeventMessage.Action] = [.add, .remove, .move, .change, .online, .offline, .bind, .unbind]
        var uevent = UeventMessage(action: pick(actions), interface: name(), index: number())
        uevent.deviceType = maybe { $0.name() }
        uevent.driver = maybe { $0.name() }
        return uevent
    }

    mutating func request() -> NetlinkRequest {
        var request = NetlinkRequest(subject: subject(), isDump: flip())
        switch request.subject {
        case .links, .nexthops: break
        case .addresses(.ipv4), .routes(.ipv4, _), .rules(.ipv4), .neighbours(.ipv4, _), .netconf(.ipv4):
            request.coversAllFamilies = flip()
        default: break
        }
        return request
    }

    private mutating func subject() -> DumpSubject {
        let family = family()
        return switch Int.random(in: 0..<7, using: &self) {
        case 0: .links
        case 1: .addresses(family)
        case 2: .routes(family, table: maybe { .init(rawValue: $0.number()) })
        case 3: .rules(family)
        case 4: .nexthops
        case 5: .neighbours(family, interface: maybe { $0.index() })
        default: .netconf(family)
        }
    }
}
