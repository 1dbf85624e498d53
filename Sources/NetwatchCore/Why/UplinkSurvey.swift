import ReachabilityCore

/// A survey of the interfaces where no route exists: which could be the egress interface, and what it lacks.
struct UplinkSurvey {
    /// The context of the diagnosis.
    let scene: DiagnosisContext

    /// The sentences, that on the interface nearest to work first.
    var sentences: [Sentence] {
        let uplinks = uplinks
        guard !uplinks.isEmpty else { return [nothing] }
        let conditions = uplinks.map { ($0.index, scene.condition(of: $0)) }
        let distances = Set(conditions.map(\.1.distance)).sorted()
        return distances.flatMap { distance in
            sentences(about: conditions.filter { $0.1.distance == distance })
        }
    }

    /// Those in the same condition are reported together, where there is nothing else to say of each.
    private func sentences(about alike: [(InterfaceIndex, LinkCondition)]) -> [Sentence] {
        guard let condition = alike.first?.1 else { return [] }
        switch condition {
        case .down: return [scene.sentence(alike.map(\.0), .down)]
        case .noCarrier:
            let hardware: [InterfaceKind] = [.wired, .wifi, .cellular]
            let together = hardware.map { kind in alike.map(\.0).filter { scene.kind($0) == kind } }
            let apart = alike.map(\.0).filter { !hardware.contains(scene.kind($0)) }.map { [$0] }
            return (together + apart).filter { !$0.isEmpty }.map { scene.sentence($0, .noCarrier) }
        default: return alike.map { scene.sentence([$0.0], $0.1) }
        }
    }

    private var nothing: Sentence {
        let others = scene.snapshot.links.filter { !$0.flags.contains(.loopback) }.map(\.index)
        guard others.isEmpty else {
            return .init("there is no network interface but loopback and \(scene.names(others))")
        }
        return .init(
            "there is no network interface but loopback",
            fix: "plug in an adapter; 'lspci -k' and 'lsusb' show those that have no driver"
        )
    }

    /// The possible uplinks: hardware and the interfaces stacked on it; if there is none, the other interfaces.
    ///
    /// Those that a default-like route names come first: they are intended as egress interfaces.
    private var uplinks: [Link] {
        let links = scene.snapshot.links.filter(isCandidate)
        let outward = links.filter { isOutward($0, depth: 0) }
        let all = outward.isEmpty ? links : outward
        let routed = namedByRoutes
        let named = all.filter { routed.contains($0.index) }
        return named.isEmpty ? all : named
    }

    /// Ports of a bridge or a bond carry for that; tunnels lead through others.
    private func isCandidate(_ link: Link) -> Bool {
        guard !link.flags.contains(.loopback), !link.hardwareType.isMonitor, link.kind != "vrf" else { return false }
        if let master = link.masterIndex.flatMap(scene.snapshot.link), master.kind != "vrf" { return false }
        return scene.kind(link.index) != .tunnel
    }

    /// Whether an interface is hardware, or is stacked on it; no sensible stack is as deep as the limit.
    private func isOutward(_ link: Link, depth: Int) -> Bool {
        switch scene.kind(link.index) {
        case .wifi, .cellular, .wired: return true
        case .other where link.kind == nil: return true
        default: break
        }
        guard depth < 8, link.kind != "veth" else { return false }
        if link.lowerNamespace == nil, let lower = link.lowerIndex.flatMap(scene.snapshot.link),
            lower.index != link.index
        {
            return isOutward(lower, depth: depth + 1)
        }
        return scene.snapshot.links.contains { $0.masterIndex == link.index && isOutward($0, depth: depth + 1) }
    }

    private var namedByRoutes: Set<InterfaceIndex> {
        let routes = scene.explanation.families.flatMap(\.probes).flatMap(\.lookups).flatMap(\.steps).flatMap(
            \.candidates
        )
        return Set(routes.flatMap(\.nextHops).map(\.nextHop.interface))
    }
}
