import ReachabilityCore

/// Reads from what became of rules and routes why a family has no path.
struct RouteReview {
    let family: FamilyExplanation
    /// The probe that shows it.
    let probe: ProbeExplanation
    let scene: WhyScene

    /// The kernel prefers a route without carrier to one that would work.
    var dead: FamilyFinding? {
        guard let detour = family.detour, !detour.interfaces.isEmpty else { return nil }
        let settings = detour.interfaces.map {
            SettingText.linkDown(scene.name($0), family.family) + "=1"
        }
        let isOne = detour.interfaces.count == 1
        let dead = "\(scene.names(detour.interfaces)) \(isOne ? "has" : "have") no carrier"
        let routes = isOne ? "its route" : "their routes"
        let other = scene.name(detour.path.interface.index)
        return .init(
            .hidesAnother,
            .init(
                "\(dead), yet the kernel prefers \(routes) to \(other)'s",
                cure: "'sysctl \(settings.joined(separator: " "))'"
            )
        )
    }

    /// The route that was chosen leads out, but not far.
    var unusable: FamilyFinding? {
        guard let route = probe.decision?.chosen.first, route.route.message.type == .unicast,
            let reason = family.reasons.first, let leg = faultyLeg(of: route)
        else { return nil }
        let beginning = byRule
        switch reason {
        case .noSource, .linkLocalSource, .loopbackSource, .tentativeSource: return source(of: leg)
        case .loopbackPath:
            let cure = RouteCommand.delete(route.route.message, scene)
            return .init(.refuses, .init("the default route leads to this machine itself", cure: cure))
        default: break
        }
        guard let link = scene.snapshot.link(leg.interface) else {
            return .init(.link, .init(beginning + "the default route's interface \(scene.name(leg.interface)) is gone"))
        }
        guard let fault = scene.fault(of: link) else { return tunnel(link, reason) }
        let sentence = scene.sentence([link.index], fault)
        return .init(.link, .init(beginning + sentence.text, cure: sentence.cure))
    }

    /// The leg to speak of: one that can't carry, else the first.
    private func faultyLeg(of route: RouteCandidate) -> RouteLeg? {
        (route.legs.first { $0.fate != .usable } ?? route.legs.first)?.leg
    }

    /// How the route came to be chosen, if not as usual: by a rule on the source.
    private var byRule: String {
        guard let rule = probe.decision?.step.rule, rule.source.length > 0 else { return "" }
        return
            "rule \(rule.priority) sends what comes from \(rule.source.text) by table \(RouteText.table(rule.table)): "
    }

    /// There is no address to send from.
    private func source(of leg: RouteLeg) -> FamilyFinding? {
        guard let link = scene.snapshot.link(leg.interface) else { return nil }
        let condition = scene.addressing(of: link, family.family)
        switch condition {
        case .tentative, .duplicate, .linkLocal: return .init(.source, scene.sentence([link.index], condition))
        default:
            let name = scene.name(link.index)
            let what = "\(name) has a default route but no \(WhyScene.name(family.family)) address to send from"
            return .init(.source, .init(what, cure: WhyScene.addressCure(name)))
        }
    }

    /// The interface itself is well, so what is beneath it is not.
    private func tunnel(_ link: Link, _ reason: Reason) -> FamilyFinding {
        let name = scene.name(link.index)
        if reason == .noRoute, case .endpoint(let address) = scene.explanation.tunnels[link.index] {
            return .init(.link, .init("no route leads to \(address), the other end of the tunnel \(name)"))
        }
        if reason == .accessPoint { return accessPoint(link) }
        guard let (beneath, fault) = carrier(of: link) else {
            return .init(
                .link,
                .init("what carries \(name) is away (\(reason.rawValue))", cure: "'netwatch explain' tells more")
            )
        }
        let sentence = scene.sentence([beneath], fault)
        return .init(.link, .init("\(name) can't carry, as \(sentence.text)", cure: sentence.cure))
    }

    /// The interface is an access point, or one is all that carries it.
    private func accessPoint(_ link: Link) -> FamilyFinding {
        let name = scene.name(link.index)
        let text = "\(name) leads to the clients of this machine's own access point, not to the internet"
        return .init(.link, .init(text, cure: "if a client is the gateway, run with --kind '\(name)=wifi'"))
    }

    /// The interface beneath another that keeps it from carrying.
    private func carrier(of link: Link) -> (InterfaceIndex, LinkCondition)? {
        let known = [
            link.lowerIndex, scene.snapshot.endpoint(of: link).flatMap { scene.snapshot.tunnelWays[$0.address] ?? nil },
        ]
        let routed = scene.explanation.families.flatMap(\.probes).flatMap(\.candidates).flatMap(\.legs).map(
            \.leg.interface
        )
        for index in known.compactMap(\.self) + routed where index != link.index {
            guard let lower = scene.snapshot.link(index), let fault = scene.fault(of: lower) else { continue }
            return (index, fault)
        }
        return nil
    }
}

extension IPPrefix {
    /// An address alone, where all of it counts; else with its length.
    var text: String { Int(length) == address.family.bitWidth ? "\(address)" : "\(address)/\(length)" }
}
