@testable import ReachabilityCore

extension NetworkSnapshot {
    /// The model for each hash that a flow may have.
    ///
    /// Some IPv6 rules depend on the next hop that the hash chose: on whether its device's group is suppressed, or on
    /// its source. Each variant has one next hop of each route whose next hops differ.
    var variants: [Self] {
        var variants = [self]
        guard ipv6Rules.elements.contains(where: \.dependsOnHash) else { return variants }
        for key in routes.keys where key.family == .ipv6 {
            for (position, route) in (routes[key] ?? []).enumerated() where mixesDevices(route.message.nextHops) {
                variants = variants.flatMap { $0.choosing(each: route.message.nextHops, of: position, in: key) }
            }
        }
        return variants
    }

    private func mixesDevices(_ nextHops: [NextHop]) -> Bool { Set(nextHops.map(\.interface)).count > 1 }

    private func choosing(each nextHops: [NextHop], of position: Int, in key: RouteTableKey) -> [Self] {
        nextHops.map { nextHop in
            var variant = self
            variant.routes[key]?[position].message.nextHops = [nextHop]
            return variant
        }
    }
}
