import Glibc
import NetworkLab

@testable import ReachabilityCore

/// Runs a story and compares the evaluator with the kernel after each change.
struct OracleRun {
    private let seed: UInt64
    private let world: OracleWorld
    private var story: OracleStory
    private let events: LabEvents
    /// The last state that was read and agreed with the kernel.
    private var agreed: NetworkSnapshot
    /// The model by the kernel's notifications.
    private var followed: NetworkSnapshot
    /// The differences between the paths of the two models.
    private(set) var misses: [String] = []
    private let evaluator = PathEvaluator(context: .init(user: getuid()))

    /// The cases that the story has covered.
    var coverage: Coverage { story.coverage }

    init(seed: UInt64) throws {
        self.seed = seed
        world = try OracleWorld(hasLoopback: seed % 4 != 0)
        story = OracleStory(world, seed: seed)
        events = try LabEvents(in: world.lab)
        agreed = try .read(from: world.rtnl, at: .now)
        followed = agreed
        for family in AddressFamily.allCases {
            // From the first rule on, the kernel walks the rules; without one it uses table main.
            var rule = RuleMessage(family: family)
            rule.priority = 1
            rule.action = .noOperation
            try world.rtnl.addRule(rule)
        }
    }

    /// Runs a number of steps; stops at the first difference.
    mutating func play(_ steps: Int) throws -> Failure? {
        for number in 1...steps {
            story.snapshot = try .read(from: world.rtnl, at: .now)
            for _ in 0..<5 { try story.step() }
            guard let difference = try difference() else {
                try follow(number)
                continue
            }
            return Failure(
                seed: seed,
                step: number,
                differences: difference.words,
                lastChanges: Array(story.log.suffix(5)),
                state: try difference.snapshot.lines + kernelRoutes()
            )
        }
        return nil
    }

    /// Applies the kernel's notifications to their model, and records where its path differs from that of the model
    /// that was just read.
    ///
    /// Some are late, as the kernel checks for duplicate addresses by itself: a difference may last for a while.
    private mutating func follow(_ step: Int) throws {
        var difference: String?
        for timeout in [Duration.zero, .milliseconds(50), .milliseconds(500)] {
            for message in try events.pendingMessages(within: timeout) { try followed.apply(message, at: .now) }
            followed.takeUnannounced(from: agreed)
            difference = firstDifference(at: .now)
            if difference == nil { return }
        }
        guard let difference else { return }
        let (read, kept) = (Set(agreed.lines), Set(followed.lines))
        let lines = [
            ["step \(step): \(difference)"], Array(story.log.suffix(6)), kept.subtracting(read).map { "kept: \($0)" },
            read.subtracting(kept).map { "read: \($0)" },
        ]
        misses.append(lines.joined().joined(separator: "\n"))
        followed = agreed
    }

    private func firstDifference(at now: Instant) -> String? {
        for address in ProbeAddresses.ipv4 + ProbeAddresses.ipv6 {
            let flow = ProbeFlow(to: address, user: getuid())
            let expected = RouteLookup.connect(flow, in: agreed, at: now)
            let actual = RouteLookup.connect(flow, in: followed, at: now)
            if expected != actual { return "\(address): read \(expected.line), kept \(actual.line)" }
        }
        return nil
    }

    /// Compares until the state is stable: changes that the kernel makes by itself (duplicate address detection,
    /// expiry) may happen between the dump and the lookup.
    private mutating func difference() throws -> (words: [String], snapshot: NetworkSnapshot)? {
        for _ in 0..<20 {
            let now = Instant.now
            let before = try NetworkSnapshot.read(from: world.rtnl, at: now)
            let words = try compare(before, at: now)
            if words.isEmpty {
                agreed = before
                let evaluation = evaluator.evaluate(before, at: now)
                story.coverage.noteState(ipv4: evaluation.ipv4.path != nil, ipv6: evaluation.ipv6.path != nil)
                return nil
            }
            let after = try NetworkSnapshot.read(from: world.rtnl, at: now)
            if before.isSame(as: after) { return (words, before) }
        }
        return (["the state does not hold still"], story.snapshot)
    }

    /// The routes as the kernel lists them, with the flags that the model derives from the links.
    private func kernelRoutes() throws -> [String] {
        try AddressFamily.allCases.flatMap { try world.rtnl.routes($0) }.filter(\.isDefaultLike).map {
            "kernel: \($0.line)"
        }
    }

    private func compare(_ snapshot: NetworkSnapshot, at now: Instant) throws -> [String] {
        var words: [String] = []
        // The evaluation of one probe is used for another only if its own would be equal.
        let evaluation = evaluator.evaluate(snapshot, at: now)
        let outcomes = (ProbeAddresses.ipv4 + ProbeAddresses.ipv6).map {
            RouteLookup.connect(.init(to: $0, user: getuid()), in: snapshot, at: now)
        }
        if evaluation.ipv4.outcomes + evaluation.ipv6.outcomes != outcomes {
            words.append(
                "evaluation \((evaluation.ipv4.outcomes + evaluation.ipv6.outcomes).map(\.line)), probes \(outcomes.map(\.line))"
            )
        }
        for address in ProbeAddresses.ipv4 + ProbeAddresses.ipv6 {
            let flow = ProbeFlow(to: address, user: getuid())
            let replies = try KernelResults(flow, in: world.lab, snapshot)
            words += Comparison(flow, replies, snapshot, at: now).differences
        }
        return words
    }
}

/// A difference between the evaluator and the kernel.
struct Failure: CustomStringConvertible {
    var seed: UInt64
    var step: Int
    var differences: [String]
    var lastChanges: [String]
    var state: [String]

    var description: String {
        (["NETWATCH_SEED=\(seed), step \(step)"] + differences + ["last:"] + lastChanges + ["state:"] + state)
            .joined(separator: "\n")
    }
}

extension NetworkSnapshot {
    /// Copies the entries whose changes the kernel does not announce.
    ///
    /// These are settings of sysctl(8), addresses that are still checked for duplicates, and neighbour entries that
    /// were valid neither before nor after.
    fileprivate mutating func takeUnannounced(from other: Self) {
        neighbours = other.neighbours
        for (index, entries) in other.addresses {
            for entry in entries where entry.flags.contains(.tentative) { take(entry, of: index, in: entries) }
        }
        for position in links.indices {
            guard let link = other.link(links[position].index) else { continue }
            links[position].usesOwnAddressesOnly = link.usesOwnAddressesOnly
            links[position].usesOptimisticAddresses = link.usesOptimisticAddresses
        }
    }

    private mutating func take(_ entry: AddressMessage, of index: InterfaceIndex, in entries: [AddressMessage]) {
        let known = addresses[index]?.firstIndex {
            $0.address == entry.address && $0.prefixLength == entry.prefixLength
        }
        if let known {
            addresses[index]?[known] = entry
            return
        }
        let before = entries.prefix { $0 != entry }.last
        let position = addresses[index]?.firstIndex { $0.address == before?.address }.map { $0 + 1 } ?? 0
        addresses[index, default: []].insert(entry, at: position)
    }

    /// Whether nothing but the remaining lifetime has changed.
    fileprivate func isSame(as other: Self) -> Bool {
        var (one, two) = (self, other)
        one.forgetExpiry()
        two.forgetExpiry()
        return one == two
    }

    private mutating func forgetExpiry() {
        for key in routes.keys {
            guard let count = routes[key]?.count else { continue }
            for position in 0..<count { routes[key]?[position].expiry = nil }
        }
    }
}
