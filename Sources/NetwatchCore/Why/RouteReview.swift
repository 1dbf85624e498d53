import ReachabilityCore

/// Reads from what became of rules and routes why a family has no path.
struct RouteReview {
    let family: FamilyExplanation
    /// The probe that shows it.
    let probe: ProbeExplanation
    let scene: DiagnosisContext

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
            "\(dead), yet the kernel prefers \(routes) to \(other)'s",
            fix: "'sysctl \(settings.joined(separator: " "))'"
        )
    }

    /// The route that was chosen leads out, but not far.
    var unusable: FamilyFinding? {
        guard let route = probe.decision?.chosen.first, route.route.message.type == .unicast,
            let reason = family.reasons.first, let nextHop = faultyNextHop(of: route)
        else { return nil }
        let beginning = byRule
        switch reason {
        case .noSource, .linkLocalSource, .loopbackSource, .tentativeSource: return source(of: nextHop)
        case .loopbackPath:
            let fix = RouteCommand.delete(route.route.message, scene)
            return .init(.refuses, "the default route leads to this machine itself", fix: fix)
        default: break
        }
        guard let link = scene.snapshot.link(nextHop.interface) else {
            return .init(.link, beginning + "the default route's interface \(scene.name(nextHop.interface)) is gone")
        }
        guard let fault = scene.fault(of: link) else { return tunnel(link, reason) }
        let sentence = scene.sentence([link.index], fault)
        return .init(.link, beginning + sentence.text, fix: sentence.fix)
    }

    /// The next hop to report: one that cannot carry, else the first.
    private func faultyNextHop(of route: RouteCandidate) -> NextHop? {
        (route.nextHops.first { $0.fate != .usable } ?? route.nextHops.first)?.nextHop
    }

    /// How the route came to be chosen, if not as usual: by a rule on the source.
    private var byRule: String {
        guard let rule = probe.decision?.step.rule, rule.source.length > 0 else { return "" }
        return
            "rule \(rule.priority) sends what comes from \(rule.source.text) by table \(RouteText.table(rule.table)): "
    }

    /// There is no address to send from.
    private func source(of nextHop: NextHop) -> FamilyFinding? {
        guard let link = scene.snapshot.link(nextHop.interface) else { return nil }
        let condition = scene.addressing(of: link, family.family)
        switch condition {
        case .tentative, .duplicate, .linkLocal: return .init(.source, scene.sentence([link.index], condition))
        default:
            let name = scene.name(link.index)
            let what = "\(name) has a default route but no \(DiagnosisContext.name(family.family)) address to send from"
            return .init(.source, what, fix: DiagnosisContext.addressFix(name))
        }
    }

    /// The interface itself has no fault, so one below it has.
    private func tunnel(_ link: Link, _ reason: ReachabilityReason) -> FamilyFinding {
        let name = scene.name(link.index)
        if reason == .noRoute, case .endpoint(let address) = scene.explanation.tunnels[link.index] {
            return .init(.link, "no route leads to \(address), the other end of the tunnel \(name)")
        }
        if reason == .accessPoint { return accessPoint(link) }
        if reason == .tunnelLoop { return loop(link) }
        guard let (beneath, fault) = carrier(of: link) else {
            return .init(
                .link,
                "what carries \(name) is away (\(reason.rawValue))",
                fix: "'netwatch explain' tells more"
            )
        }
        let sentence = scene.sentence([beneath], fault)
        return .init(.link, "\(name) cannot carry packets, as \(sentence.text)", fix: sentence.fix)
    }

    /// The interface is an access point, or one is all that carries it.
    private func accessPoint(_ link: Link) -> FamilyFinding {
        let name = scene.name(link.index)
        let text = "\(name) leads to the clients of this machine's own access point, not to the internet"
        return .init(.link, text, fix: "if a client is the gateway, run with --kind '\(name)=wifi'")
    }

    /// The tunnel's own packets are routed into it.
    private func loop(_ link: Link) -> FamilyFinding {
        guard let endpoint = scene.snapshot.tunnels.endpoint(of: link)?.address else {
            return .init(.link, "the route to a tunnel's other end leads into the tunnel itself")
        }
        let other = "\(endpoint), the other end of the tunnel \(scene.name(link.index)),"
        let command = "'\(DiagnosisContext.ip(endpoint.family)) route add \(endpoint) via GATEWAY dev NAME'"
        return .init(
            .link,
            "the route to \(other) leads into the tunnel itself",
            fix: "\(command), or a fwmark for the tunnel"
        )
    }

    /// The lower interface that makes another one unusable.
    private func carrier(of link: Link) -> (InterfaceIndex, LinkCondition)? {
        let known = [
            link.lowerIndex,
            scene.snapshot.tunnels.endpoint(of: link).flatMap { scene.snapshot.tunnels.egress[$0] ?? nil },
        ]
        let routed = scene.explanation.families.flatMap(\.probes).flatMap(\.candidates).flatMap(\.nextHops).map(
            \.nextHop.interface
        )
        for index in known.compactMap(\.self) + routed where index != link.index {
            guard let lower = scene.snapshot.link(index), let fault = scene.fault(of: lower) else { continue }
            return (index, fault)
        }
        return nil
    }
}

extension IPPrefix {
    /// An address without a length if the prefix is the whole address, otherwise with it.
    var text: String { Int(length) == address.family.bitWidth ? "\(address)" : "\(address)/\(length)" }
}

extension RouteReview {
    /// No route matches; there is one that did, or that almost does.
    var absent: FamilyFinding? {
        guard probe.decision == nil else { return nil }
        return expired ?? suppressed ?? partial ?? unconsulted
    }

    private var expired: FamilyFinding? {
        let known = probe.candidates.filter { $0.verdict == .expired }.map(\.route.message)
        let gone = (scene.snapshot.routes.expired[.init(family.family, .main)] ?? []).filter { $0.type == .unicast }
        return (known + gone).lazy.compactMap(expired).first
    }

    private func expired(_ route: RouteMessage) -> FamilyFinding? {
        guard let nextHop = route.nextHops.first, let link = scene.snapshot.link(nextHop.interface) else { return nil }
        if let fault = scene.fault(of: link) { return .init(.link, scene.sentence([link.index], fault)) }
        let name = scene.name(link.index)
        guard route.origin == RouteMessage.routerAdvertisement else {
            return .init(.expired, "the default route through \(name) has expired")
        }
        let router = nextHop.gateway.map { " \($0)" } ?? ""
        return .init(
            .expired,
            "the default route through \(name) has expired, as the router\(router) advertises it no more",
            fix: "see whether the router still advertises itself: 'rdisc6 \(name.shellWord)'"
        )
    }

    /// A route that would work does not count, by a rule or by a route that says throw.
    private var suppressed: FamilyFinding? {
        for step in probe.lookups.flatMap(\.steps) {
            guard let route = step.candidates.first(where: \.isUsable), let nextHop = route.nextHops.first?.nextHop
            else {
                continue
            }
            let name = scene.name(nextHop.interface)
            switch route.verdict {
            case .notTaken:
                let what = "rule \(step.rule.priority) lets the default route through \(name) not count"
                return .init(.hidesAnother, what, fix: RouteCommand.delete(step.rule, scene))
            case .behindThrow:
                let thrown = step.candidates.first { $0.verdict == .throwing }
                let fix = thrown.map { RouteCommand.delete($0.route.message, scene) }
                return .init(.hidesAnother, "a throw route hides the default route through \(name)", fix: fix)
            default: continue
            }
        }
        return nil
    }

    /// Another part of the internet has a route.
    private var partial: FamilyFinding? {
        let chosen = family.probes.compactMap { $0.decision?.chosen.first { $0.isUsable } }
        guard let nextHop = chosen.first?.nextHops.first?.nextHop else { return nil }
        let family = family.family
        return .init(
            .partial,
            "the routes cover only a part of \(DiagnosisContext.name(family)): none leads to \(probe.destination)",
            fix: RouteCommand.add(family, via: nextHop.gateway?.description, on: scene.name(nextHop.interface))
        )
    }

    /// The default route is in a table to which no rule leads.
    private var unconsulted: FamilyFinding? {
        for table in family.unconsultedTables where table.vrf == nil {
            let nextHops = table.routes.filter { $0.message.type == .unicast }.compactMap(\.message.nextHops.first)
            let usable = nextHops.first { nextHop in
                scene.snapshot.link(nextHop.interface).map { scene.fault(of: $0) == nil } ?? false
            }
            guard let usable else { continue }
            let name = RouteText.table(table.table)
            let priority = table.table == .main ? " priority 32766" : ""
            let route = "the default route through \(scene.name(usable.interface))"
            return .init(
                .hidesAnother,
                "\(Self.clause(of: table)) to table \(name), where \(route) is",
                fix: "'\(DiagnosisContext.ip(family.family)) rule add lookup \(name)\(priority)'"
            )
        }
        return nil
    }

    /// `no rule leads`, or the only packets that a rule leads there.
    private static func clause(of table: UnconsultedTable) -> String {
        table.rules.first.map { "rule \($0.priority) leads only \(RuleText.scope(of: $0))" } ?? "no rule leads"
    }
}

extension RouteReview {
    /// A rule or a route says no.
    var refusal: FamilyFinding? {
        guard let decision = probe.decision else { return nil }
        if case .refuses = decision.step.result { return refusal(by: decision.step.rule) }
        guard let route = decision.chosen.first, let word = Self.refusalWord(route), !isNullEntry(route) else {
            return nil
        }
        let table = route.route.message.table
        let place = table == .main ? "" : " in table \(RouteText.table(table))"
        let fix = RouteCommand.delete(route.route.message, scene)
        let isBySource = decision.step.rule.source.length > 0
        guard let hidden = hidden(among: isBySource ? decision.step.candidates : probe.candidates) else {
            if isBySource { return refusal(word, by: decision.step.rule) }
            let whole = route.route.message.destination.length == 0
            let what = whole ? "the only default route" : "the only route to \(probe.destination)"
            return .init(.refuses, "\(what)\(place) is \(word), which leads nowhere", fix: fix)
        }
        return .init(.hidesAnother, "\(word)\(place) hides the default route through \(hidden)", fix: fix)
    }

    private func refusal(by rule: RuleMessage) -> FamilyFinding {
        let action = rule.action == .prohibit ? "prohibit" : rule.action == .blackhole ? "blackhole" : "unreachable"
        return .init(
            .refuses,
            "rule \(rule.priority) refuses \(RuleText.scope(of: rule)) (\(action))",
            fix: RouteCommand.delete(rule, scene)
        )
    }

    private func refusal(_ word: String, by rule: RuleMessage) -> FamilyFinding {
        let table = RouteText.table(rule.table)
        let source = rule.source.text
        return .init(
            .refuses,
            "rule \(rule.priority) sends what comes from \(source) to table \(table), which has only \(word)",
            fix: RouteCommand.delete(rule, scene)
        )
    }

    /// `an unreachable route`; nil for a route that refuses nothing.
    private static func refusalWord(_ route: RouteCandidate) -> String? {
        let message = route.route.message
        switch message.type {
        case .unreachable: return "an unreachable route"
        case .prohibit: return "a prohibit route"
        case .blackhole: return "a blackhole route"
        default: break
        }
        guard message.type == .unicast, let id = message.nexthopID, route.nextHops.isEmpty else { return nil }
        return "a route by the blackhole nexthop \(id)"
    }

    /// IPv6 tables of older kernels end with an unreachable route of their own, which hides nothing.
    private func isNullEntry(_ route: RouteCandidate) -> Bool {
        family.family == .ipv6 && route.route.message.metric == .max
    }

    /// The interface of a route that would work if the chosen one were not there.
    private func hidden(among candidates: [RouteCandidate]) -> String? {
        let other = candidates.first { $0.isUsable && $0.verdict != .chosen }
        return other?.nextHops.first.map { scene.name($0.nextHop.interface) }
    }
}

/// Commands of ip-route(8) and ip-rule(8), as fixes write them.
enum RouteCommand {
    /// Returns the command that removes a route: `'ip route del unreachable default metric 5'`.
    static func delete(_ route: RouteMessage, _ scene: DiagnosisContext) -> String {
        var words = [DiagnosisContext.ip(route.family), "route del"] + RouteText.type(route.type)
        words.append(RuleText.prefix(route.destination))
        if let nextHop = route.nextHops.first, route.type == .unicast {
            words += ["dev", scene.name(nextHop.interface).shellWord]
        }
        if route.metric != 0 { words += ["metric", String(route.metric)] }
        if route.table != .main { words += ["table", RouteText.table(route.table)] }
        return "'\(words.joined(separator: " "))'"
    }

    /// Returns the command that adds a default route: `'ip route add default via GATEWAY dev eth0'`; a tunnel's has no
    /// gateway.
    static func add(_ family: AddressFamily, via gateway: String?, on name: String) -> String {
        let via = gateway.map { " via \($0)" } ?? ""
        return "'\(DiagnosisContext.ip(family)) route add default\(via) dev \(name.shellWord)'"
    }

    /// Returns the command that removes a rule: `'ip rule del priority 100'`.
    ///
    /// Of several rules of one priority the kernel removes the first that fits, so there all is said that this one has.
    static func delete(_ rule: RuleMessage, _ scene: DiagnosisContext) -> String {
        let isAlone = scene.snapshot.rules(rule.family).filter { $0.priority == rule.priority }.count < 2
        let rest = isAlone ? "" : " " + RuleText.identity(of: rule)
        return "'\(DiagnosisContext.ip(rule.family)) rule del priority \(rule.priority)\(rest)'"
    }
}
