@testable import ReachabilityCore

/// A model as lines of text, one for each entry in the kernel's order, so that two models are easily compared.
///
/// Lifetimes are omitted, as they change all the time; next hops and types follow from nexthop objects and devices.
struct ModelImage: Equatable {
    /// The lines of each subject.
    private(set) var subjects: [String: [String]] = [:]

    init(_ snapshot: NetworkSnapshot) {
        subjects["links"] = snapshot.links.map(Self.line)
        subjects["IPv4 rules"] = snapshot.ipv4Rules.elements.map(Self.line)
        subjects["IPv6 rules"] = snapshot.ipv6Rules.elements.map(Self.line)
        subjects["nexthops"] = snapshot.nexthops.values.sorted { $0.id < $1.id }.map { "\($0)" }
        subjects["settings"] = snapshot.settings
            .filter { $0.value != .init() && $0.key.index != NetconfMessage.defaultInterface }
            .map { "\($0.key) \($0.value)" }.sorted()
        for (index, list) in snapshot.addresses {
            subjects["addresses of \(index)"] = list.map(Self.line)
        }
        for (key, table) in snapshot.routes {
            subjects["\(key.family) routes of \(key.table.rawValue)"] = table.map { Self.line($0, snapshot) }
        }
    }

    /// The differences from another model, a line each; empty if there are none.
    func differences(from other: Self) -> [String] {
        Set(subjects.keys).union(other.subjects.keys).sorted().flatMap { subject -> [String] in
            let left = subjects[subject] ?? []
            let right = other.subjects[subject] ?? []
            guard left != right else { return [] }
            let shared = Set(left).intersection(right).count == Set(left).count && left.count == right.count
            return ["\(subject)\(shared ? " in another order" : ""):"]
                + left.filter { shared || !right.contains($0) }.map { "  events: \($0)" }
                + right.filter { shared || !left.contains($0) }.map { "  dumps:  \($0)" }
        }
    }

    /// The kernel does not announce changes of the carrier and the group of a device that is down.
    private static func line(_ link: Link) -> String {
        var link = link
        if !link.flags.contains(.up) {
            link.carrier = false
            link.group = 0
        }
        return "\(link)"
    }

    private static func line(_ address: AddressMessage) -> String {
        var address = address
        address.preferredLifetime = nil
        address.validLifetime = nil
        return "\(address.address)/\(address.prefixLength) peer \(address.peer.map { "\($0)" } ?? "-") "
            + "scope \(address.scope.rawValue) flags \(String(address.flags.rawValue, radix: 16))"
    }

    private static func line(_ rule: RuleMessage) -> String { "\(rule)" }

    private static func line(_ route: Route, _ snapshot: NetworkSnapshot) -> String {
        let message = route.message
        let nextHops = snapshot.nextHops(of: route).map { nextHop in
            "\(nextHop.gateway.map { "\($0)" } ?? "-")%\(nextHop.interface)*\(nextHop.weight)+\(nextHop.flags.rawValue)"
        }
        let source = message.source.length > 0 ? " from \(message.source)" : ""
        return "\(message.destination.address)/\(message.destination.length)\(source) tos \(message.tos) "
            + "metric \(message.metric) type \(snapshot.type(of: route).rawValue) scope \(message.scope.rawValue) "
            + "origin \(message.origin) nexthop \(message.nexthopID ?? 0) "
            + "prefers \(message.preferredSource.map { "\($0)" } ?? "-") pref \(message.preference) \(nextHops)"
    }
}
