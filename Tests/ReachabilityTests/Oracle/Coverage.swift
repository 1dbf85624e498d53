/// Counts the cases that a story has covered, so that a story that covers too few fails.
struct Coverage {
    /// The numbers of rules with each selector and action, and of routes of each kind, that the kernel has accepted.
    private(set) var counts: [String: Int] = [:]
    /// The number of states that were compared.
    private(set) var steps = 0
    /// The number of states without a usable path.
    private(set) var unreachable = 0
    /// The numbers of states with an IPv4 path, and with an IPv6 path.
    private(set) var ipv4 = 0
    private(set) var ipv6 = 0

    /// Counts a change that the kernel has accepted.
    mutating func note(_ names: [String]) {
        for name in names { counts[name, default: 0] += 1 }
    }

    /// Counts a state that was compared.
    mutating func noteState(ipv4 hasIPv4: Bool, ipv6 hasIPv6: Bool) {
        steps += 1
        if hasIPv4 { ipv4 += 1 }
        if hasIPv6 { ipv6 += 1 }
        if !hasIPv4, !hasIPv6 { unreachable += 1 }
    }

    /// The cases that were covered too rarely for the number of steps.
    func gaps() -> [String] {
        let least = 50 * steps / 2_000
        var gaps = Self.required.filter { counts[$0, default: 0] < least }.map { "\($0): \(counts[$0, default: 0])" }
        if unreachable * 10 < steps * 3 { gaps.append("without a path: \(unreachable) of \(steps)") }
        if ipv4 * 20 < steps { gaps.append("with IPv4: \(ipv4) of \(steps)") }
        if ipv6 * 20 < steps { gaps.append("with IPv6: \(ipv6) of \(steps)") }
        return gaps
    }

    /// The selectors and actions of rules, and the kinds of routes, of the design.
    static let required = [
        "rule from", "rule to", "rule not", "rule fwmark", "rule iif", "rule oif", "rule uidrange", "rule ipproto",
        "rule sport", "rule dport", "rule tos", "rule dscp", "rule flowlabel", "rule tun_id", "rule find source",
        "rule suppress_prefixlength", "rule suppress_ifgroup",
        "action lookup", "action goto", "action nop", "action unreachable", "action blackhole", "action prohibit",
        "route unicast", "route local", "route blackhole", "route unreachable", "route prohibit", "route throw",
        "route multipath", "route nexthop", "route source-specific", "route half", "route eighth", "route expires",
    ]
}
