import NetworkLab
import ReachabilityCore

/// Draws messages in the form that the decoder returns: messages with the same encoding have one form.
extension SeededGenerator {
    mutating func event() -> KernelEvent {
        switch Int.random(in: 0..<28, using: &self) {
        case 0: .link(link())
        case 1: .linkRemoved(link())
        case 2: .address(address())
        case 3: .addressRemoved(address())
        case 4, 5: .route(route())
        case 6: .routeRemoved(route())
        case 7, 8: .rule(rule())
        case 9: .ruleRemoved(rule())
        case 10: .nexthop(nexthop())
        case 11: .nexthopRemoved(nexthop())
        case 12: .neighbour(neighbour())
        case 13: .neighbourRemoved(neighbour())
        case 14: .netconf(netconf())
        case 15: .netconfRemoved(netconf())
        case 16: .uevent(uevent())
        case 17: .request(request())
        case 18: .family(genericFamily())
        case 19, 20, 21: .wireless(wireless())
        case 22: .wireGuard(wireGuard())
        case 24: flip() ? .team(team()) : .l2tp(l2tp())
        case 25: .routerOption(routerOption())
        case 23: .traffic(.init(index: number(), receivedBytes: number(), sentBytes: number()))
        default: control()
        }
    }

    mutating func control() -> KernelEvent {
        switch Int.random(in: 0..<5, using: &self) {
        case 4: .familiesRequested
        case 0: .done(errno: .random(in: 0 ... .max, using: &self))
        case 1: .error(errno: .random(in: 0 ... .max, using: &self))
        case 2: .overrun
        default: .ignored
        }
    }

    private mutating func routerOption() -> RouterOptionMessage {
        let options = (0..<Int.random(in: 1...3, using: &self)).map { _ in option() }
        return .init(index: number(), router: maybe { $0.address(.ipv6) }, options: options)
    }

    private mutating func option() -> RouterOption {
        guard let prefix = NAT64Prefix(.init(address(.ipv6), length: pick([32, 40, 48, 56, 64, 96]))), flip() else {
            return .captivePortal(pick(["https://portal.example/api", RouterOption.unrestrictedURI, "ü", name()]))
        }
        return .nat64(prefix, lifetime: .seconds(8 * Int.random(in: 0..<1 << 13, using: &self)))
    }

    mutating func link() -> LinkMessage {
        var link = LinkMessage(index: number())
        link.family = pick([0, 0, 0, 7, 10])
        link.hardwareType = .init(rawValue: number())
        link.flags = .init(rawValue: number())
        link.changeMask = number()
        link.name = maybe { $0.name() }
        link.mtu = maybe { $0.number() }
        link.group = maybe { $0.number() }
        link.carrier = maybe { $0.flip() }
        link.operationalState = maybe {
            $0.pick([.unknown, .notPresent, .down, .lowerLayerDown, .testing, .dormant, .up])
        }
        link.lowerIndex = maybe { $0.index() }
        link.lowerNamespace = maybe { $0.number() }
        link.masterIndex = maybe { $0.index() }
        link.parentBus = maybe { $0.name() }
        link.isWirelessEvent = flip()
        drawKind(&link)
        drawSettings(&link)
        return link
    }

    private mutating func drawKind(_ link: inout LinkMessage) {
        link.kind = maybe { $0.pick(["vrf", "bond", "gre", "sit", "vxlan", "geneve", "vti6", $0.name()]) }
        link.portKind = maybe { $0.pick(["bond", "bridge"]) }
        if link.kind == "vrf" { link.vrfTable = maybe { $0.number() } }
        if link.kind == "bond" {
            link.bondActivePort = maybe { $0.index() }
            link.bondReplacesPorts = flip()
        }
        if let kind = link.kind, ["gre", "sit", "vxlan", "geneve", "vti6"].contains(kind) {
            let family = family()
            link.tunnelRemote = maybe { $0.address(family) }.flatMap { $0.isMulticast || $0.isUnspecified ? nil : $0 }
            if kind != "geneve" {
                link.tunnelSource = maybe { $0.address(family) }
                if link.tunnelSource.map({ $0.isMulticast || $0.isUnspecified }) == true { link.tunnelSource = nil }
            }
            if kind != "vxlan", kind != "geneve" { link.tunnelMark = maybe { $0.number() } ?? 0 }
            if kind != "vti6" { link.tunnelTOS = maybe { $0.number() } ?? 0 }
        }
        if link.portKind == "bond" { link.bondPortIsActive = maybe { $0.flip() } }
    }

    /// The settings are in one array, so that a later one includes the earlier ones.
    private mutating func drawSettings(_ link: inout LinkMessage) {
        guard link.family != 7 else { return }
        let known = Int.random(in: 0...3, using: &self)
        if known > 0 { link.prefersTemporaryAddresses = flip() }
        if known > 1 { link.usesOptimisticAddresses = flip() }
        if known > 2 { link.usesOwnAddressesOnly = flip() }
    }

    mutating func address() -> AddressMessage {
        let family = family()
        let address = address(family)
        var message = AddressMessage(
            index: number(),
            address: address,
            prefixLength: prefix(family).length,
            scope: .init(rawValue: number()),
            flags: .init(rawValue: number())
        )
        let peer = self.address(family)
        if flip(), peer != address { message.peer = peer }
        guard flip() else { return message }
        message.preferredLifetime = number()
        message.validLifetime = number()
        return message
    }

    mutating func route() -> RouteMessage {
        let family = family()
        var route = RouteMessage(destination: prefix(family), table: .init(rawValue: number()))
        route.source = prefix(family)
        route.type = .init(rawValue: number())
        route.scope = .init(rawValue: number())
        route.origin = number()
        route.tos = number()
        route.flags = number()
        route.metric = number()
        route.nextHops = list { $0.nextHop(weight: .random(in: 1...256, using: &$0)) }
        if flip(), let first = route.nextHops.first {
            // The form of a route with one next hop: its flags are the route's.
            route.nextHops = [
                .init(interface: first.interface, gateway: first.gateway, flags: .init(rawValue: route.flags & 0xFF))
            ]
        }
        route.nexthopID = maybe { $0.number() }
        route.preferredSource = maybe { $0.address(family) }
        route.preference = pick([.medium, .high, .invalid, .low])
        route.lifetime = maybe { .milliseconds(10 * Int64.random(in: 0...Int64(Int32.max), using: &$0)) }
        return route
    }

    mutating func nextHop(weight: UInt16) -> NextHop {
        let family = family()
        return .init(
            interface: number(),
            gateway: maybe { $0.address(family) },
            weight: weight,
            flags: .init(rawValue: UInt32(number(UInt8.self)))
        )
    }
}
