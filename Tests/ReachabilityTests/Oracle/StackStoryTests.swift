import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The monitor compared with packet counters, in random stories over bridges, macvlans, tunnels, ECMP and rules.
@Suite struct StackStoryTests {
    /// `NETWATCH_SEED` selects one story, `NETWATCH_STEPS` sets its length; 2000 is the full size.
    private static let seeds = number("NETWATCH_SEED").map { [UInt64($0)] } ?? Array(1...5)
    private static let steps = number("NETWATCH_STEPS") ?? 200

    private static func number(_ variable: String) -> Int? {
        getenv(variable).flatMap { Int(String(cString: $0)) }
    }

    @Test("Packets leave through the carriers that the state names, or do not leave", arguments: seeds)
    func agrees(seed: UInt64) async throws {
        let failure: String? = try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try LabThread { continuation.resume(with: Result { try Self.play(seed) }) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(failure == nil, "\(failure ?? "")")
    }

    private static func play(_ seed: UInt64) throws -> String? {
        let world = try StackWorld()
        var story = StackStory(world, seed: seed)
        var configuration = MonitorConfiguration()
        configuration.kindRules = StackWorld.kinds
        let probe = try EngineProbe(in: world.machine, configuration)
        defer { probe.engine.stop() }
        try story.begin()
        var queries = 0
        for number in 1...steps {
            story.step()
            guard let difference = try difference(world, story, probe) else {
                queries += try isQueried(world, probe, configuration) ? 1 : 0
                continue
            }
            let view = try probe.engine.view()
            let details = view.evaluation.ipv4.outcomes.map(\.line) + view.snapshot.lines
            return (["seed \(seed), step \(number): \(difference)"] + story.log + details).joined(separator: "\n")
        }
        let kinds = ["carrier", "default", "ECMP", "macvlan", "tunnel", "port", "host route", "rule", "tunnel port"]
        #expect(queries >= steps / 50, "seed \(seed): \(queries) paths could be read from their egress interfaces")
        let gaps = kinds.filter { story.counts[$0, default: 0] < steps / 50 }
        return gaps.isEmpty ? nil : "seed \(seed) met too little of \(gaps): \(story.counts)"
    }

    /// Whether the path can be read from its egress interfaces alone; it then has to be the monitor's.
    private static func isQueried(
        _ world: StackWorld,
        _ probe: EngineProbe,
        _ configuration: MonitorConfiguration
    ) throws -> Bool {
        var configuration = configuration
        configuration.namespace = .path(world.machine.path)
        guard let path = EgressQuery(configuration).path(within: .seconds(60)) else { return false }
        let expected = try probe.engine.view().evaluation.path
        #expect(path == expected)
        return true
    }

    /// The differences between the state and the counters, once the monitor has received everything.
    ///
    /// The monitor gets some time: the last messages are still under way when the first packets are sent.
    private static func difference(_ world: StackWorld, _ story: StackStory, _ probe: EngineProbe) throws -> String? {
        var last: String?
        for _ in 0..<200 {
            let egress = try world.send()
            let path = try probe.engine.view().evaluation.path
            last = Verdict(egress, isMultipath: story.isMultipath).difference(from: path)
            if last == nil { return nil }
            usleep(10_000)
        }
        return last
    }
}

/// The interfaces that carry packets, by the counters.
private struct Verdict {
    /// For each half of the internet, the uplinks through which packets left.
    let egress: [Set<String>]
    let isMultipath: Bool

    init(_ egress: [Set<String>], isMultipath: Bool) {
        self.egress = egress
        self.isMultipath = isMultipath
    }

    /// The difference between a path and the counters; nil if there is none.
    func difference(from path: NetworkPath) -> String? {
        let claim = "\(path.status.name) over \(path.carriers.map(\.name)) \(path.reasons.map(\.rawValue))"
        let isReachable = egress.allSatisfy { !$0.isEmpty }
        guard path.status.isReachable == isReachable else { return "\(claim), but packets leave by \(egress)" }
        guard isReachable else { return nil }
        let used = egress.reduce(Set()) { $0.union($1) }
        guard used.isSubset(of: path.carriers.map(\.name)) else { return "\(claim), but packets leave by \(used)" }
        // Frames that a bridge floods leave through all of its ports; flows over several next hops through any of them.
        if used.count > 1, !isMultipath { return nil }
        let isCellular = used.contains("wwan0")
        guard used.count > 1 || (path.status == .cellular) == isCellular || isMultipath else {
            return "\(claim), but packets leave by \(used)"
        }
        return isMultipath && isCellular && used.count == 1 && path.status != .cellular
            ? "\(claim), but packets leave by \(used)" : nil
    }
}
