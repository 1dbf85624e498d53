import ReachabilityCore

extension RouteReview {
    /// No route answers; there is one that did, or that almost does.
    var absent: FamilyFinding? {
        guard probe.decision == nil else { return nil }
        return expired ?? unheeded ?? partial ?? stray
    }

    /// `RTPROT_RA`: the kernel made it of a router's advertisement.
    private static let routerAdvertisement: UInt8 = 9

    private var expired: FamilyFinding? {
        let known = probe.candidates.filter { $0.verdict == .expired }.map(\.route.message)
        let gone = (scene.snapshot.expiredRoutes[.init(family.family, .main)] ?? []).filter { $0.type == .unicast }
        return (known + gone).lazy.compactMap(expired).first
    }

    private func expired(_ route: RouteMessage) -> FamilyFinding? {
        guard let leg = route.legs.first, let link = scene.snapshot.link(leg.interface) else { return nil }
        if let fault = scene.fault(of: link) { return .init(.link, scene.sentence([link.index], fault)) }
        let name = scene.name(link.index)
        guard route.origin == Self.routerAdvertisement else {
            return .init(.expired, .init("the default route through \(name) has expired"))
        }
        let router = leg.gateway.map { " \($0)" } ?? ""
        return .init(
            .expired,
            .init(
                "the default route through \(name) has expired, as the router\(router) advertises it no more",
                cure: "see whether the router still advertises itself: 'rdisc6 \(name.shellWord)'"
            )
        )
    }

    /// A route that would work does not count, by a rule or by a route that says throw.
    private var unheeded: FamilyFinding? {
        for step in probe.lookups.flatMap(\.steps) {
            guard let route = step.candidates.first(where: \.isUsable), let leg = route.legs.first?.leg else {
                continue
            }
            let name = scene.name(leg.interface)
            switch route.verdict {
            case .notTaken:
                let what = "rule \(step.rule.priority) lets the default route through \(name) not count"
                return .init(.hidesAnother, .init(what, cure: RouteCommand.delete(step.rule, scene)))
            case .behindThrow:
                let thrown = step.candidates.first { $0.verdict == .throwing }
                let cure = thrown.map { RouteCommand.delete($0.route.message, scene) }
                return .init(.hidesAnother, .init("a throw route hides the default route through \(name)", cure: cure))
            default: continue
            }
        }
        return nil
    }

    /// Another part of the internet has a route.
    private var partial: FamilyFinding? {
        let chosen = family.probes.compactMap { $0.decision?.chosen.first { $0.isUsable } }
        guard let leg = chosen.first?.legs.first?.leg else { return nil }
        let family = family.family
        return .init(
            .partial,
            .init(
                "the routes cover only a part of \(WhyScene.name(family)): none leads to \(probe.destination)",
                cure: RouteCommand.add(family, via: leg.gateway?.description, on: scene.name(leg.interface))
            )
        )
    }

    /// The default route is in a table to which no rule leads.
    private var stray: FamilyFinding? {
        for table in family.strayTables where table.vrf == nil {
            let legs = table.routes.filter { $0.message.type == .unicast }.compactMap(\.message.legs.first)
            let usable = legs.first { leg in
                scene.snapshot.link(leg.interface).map { scene.fault(of: $0) == nil } ?? false
            }
            guard let usable else { continue }
            let name = RouteText.table(table.table)
            let priority = table.table == .main ? " priority 32766" : ""
            let way = "the default route through \(scene.name(usable.interface))"
            return .init(
                .hidesAnother,
                .init(
                    "\(Self.neglect(of: table)) to table \(name), where \(way) is",
                    cure: "'\(WhyScene.ip(family.family)) rule add lookup \(name)\(priority)'"
                )
            )
        }
        return nil
    }

    /// `no rule leads`, or what alone a rule leads there.
    private static func neglect(of table: StrayTable) -> String {
        table.rules.first.map { "rule \($0.priority) leads only \(RuleText.scope(of: $0))" } ?? "no rule leads"
    }
}
