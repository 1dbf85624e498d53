@testable import ReachabilityCore

extension NetworkSnapshot {
    /// The same, as the hash of the flow may see it.
    ///
    /// Some IPv6 rules ask about the leg that the hash chose: whether its device's group is suppressed, or whether the
    /// source that goes with it is theirs. Each variant has one leg of each route whose legs differ.
    var variants: [Self] {
        var variants = [self]
        guard ipv6Rules.contains(where: \.dependsOnHash) else { return variants }
        for key in routes.keys where key.family == .ipv6 {
            for (position, route) in (routes[key] ?? []).enumerated() where mixesDevices(route.message.legs) {
                variants = variants.flatMap { $0.choosing(each: route.message.legs, of: position, in: key) }
            }
        }
        return variants
    }

    private func mixesDevices(_ legs: [RouteLeg]) -> Bool { Set(legs.map(\.interface)).count > 1 }

    private func choosing(each legs: [RouteLeg], of position: Int, in key: RouteTableKey) -> [Self] {
        legs.map { leg in
            var variant = self
            variant.routes[key]?[position].message.legs = [leg]
            return variant
        }
    }
}
