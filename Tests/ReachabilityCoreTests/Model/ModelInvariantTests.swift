import NetworkLab
import Testing

@testable import ReachabilityCore

@Suite("Invariants of the model")
struct ModelInvariantTests {
    @Test("Any messages leave the model in order and without empty tables", arguments: [1, 2, 3, 4] as [UInt64])
    func invariants(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var snapshot = NetworkSnapshot()
        var assembly = DumpAssembly()
        // A final dump of all links may just have found none.
        var wasFilled = false
        for step in 1...3000 {
            let (event, flags) = draw(&generator)
            let header = ModelStory.header(flags)
            assembly.note(event, header, at: .init(nanoseconds: 0))
            if generator.flip() {
                assembly.take(event, header, of: .routes(.ipv6, table: nil), at: .init(nanoseconds: 0))
            }
            snapshot.apply(event, header, at: .init(nanoseconds: 0))
            if step % 100 == 0 {
                _ = assembly.commit(to: &snapshot, keepsMissing: generator.flip())
                assembly.begin(generator.pick([.links, .routes(.ipv6, table: nil), .addresses(.ipv4), .nexthops]))
            }
            wasFilled = wasFilled || (!snapshot.routes.keys.isEmpty && !snapshot.links.isEmpty)
            let faults = faults(of: snapshot)
            guard faults.isEmpty else {
                Issue.record("seed \(seed), step \(step): \(faults) after \(event)")
                return
            }
        }
        #expect(wasFilled)
    }

    /// An event about one of few links, tables, prefixes and metrics, so that events concern the same entries.
    private func draw(_ generator: inout SeededGenerator) -> (KernelEvent, NetlinkFlags) {
        let flags: NetlinkFlags = generator.pick([
            [], .multi, .create, [.create, .exclusive], .replace, [.create, .append],
        ])
        switch generator.event() {
        case .route(let message): return (.route(narrow(message, &generator)), flags)
        case .routeRemoved(let message): return (.routeRemoved(narrow(message, &generator)), flags)
        case .link(var message):
            message.family = 0
            message.isWirelessEvent = false
            return (.link(message), flags)
        case let event: return (event, flags)
        }
    }

    private func narrow(_ message: RouteMessage, _ generator: inout SeededGenerator) -> RouteMessage {
        var message = message
        message.destination = .init(message.destination.address, length: generator.pick([0, 1, 4]))
        message.table = generator.pick([.main, .init(rawValue: 7)])
        message.flags &= 0xFF
        message.metric = generator.pick([0, 1])
        message.nexthopID = generator.maybe { $0.pick([0, 1, .max]) }
        return message
    }

    private func faults(of snapshot: NetworkSnapshot) -> [String] {
        var faults: [String] = []
        let indexes = snapshot.links.map(\.index)
        if indexes != Set(indexes).sorted() { faults.append("links out of order") }
        for (key, table) in snapshot.routes {
            if table.isEmpty { faults.append("an empty table \(key)") }
            for (earlier, later) in zip(table, table.dropFirst()) where later.message.precedes(earlier.message) {
                faults.append("routes out of order in \(key)")
            }
            if table.contains(where: { $0.message.family != key.family || $0.message.table != key.table }) {
                faults.append("a route in a wrong table \(key)")
            }
        }
        for (index, list) in snapshot.addresses {
            let families = list.map(\.address.family.rawValue)
            if list.isEmpty || families != families.sorted() { faults.append("addresses of \(index)") }
        }
        let priorities = snapshot.ipv4Rules.elements.map(\.priority)
        if priorities != priorities.sorted() { faults.append("rules out of order") }
        return faults
    }
}
