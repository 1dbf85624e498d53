import ReachabilityCore

/// Commands of ip-route(8) and ip-rule(8), as cures write them.
enum RouteCommand {
    /// What removes a route: `'ip route del unreachable default metric 5'`.
    static func delete(_ route: RouteMessage, _ scene: WhyScene) -> String {
        var words = [WhyScene.ip(route.family), "route del"] + RouteText.type(route.type)
        words.append(RuleText.prefix(route.destination))
        if let leg = route.legs.first, route.type == .unicast { words += ["dev", scene.name(leg.interface).shellWord] }
        if route.metric != 0 { words += ["metric", String(route.metric)] }
        if route.table != .main { words += ["table", RouteText.table(route.table)] }
        return "'\(words.joined(separator: " "))'"
    }

    /// What adds a default route: `'ip route add default via GATEWAY dev eth0'`; a tunnel's has no gateway.
    static func add(_ family: AddressFamily, via gateway: String?, on name: String) -> String {
        let via = gateway.map { " via \($0)" } ?? ""
        return "'\(WhyScene.ip(family)) route add default\(via) dev \(name.shellWord)'"
    }

    /// What removes a rule: `'ip rule del priority 100'`.
    ///
    /// Of several rules of one priority the kernel removes the first that fits, so there all is said that this one has.
    static func delete(_ rule: RuleMessage, _ scene: WhyScene) -> String {
        let isAlone = scene.snapshot.rules(rule.family).filter { $0.priority == rule.priority }.count < 2
        let rest = isAlone ? "" : " " + RuleText.identity(of: rule)
        return "'\(WhyScene.ip(rule.family)) rule del priority \(rule.priority)\(rest)'"
    }
}
