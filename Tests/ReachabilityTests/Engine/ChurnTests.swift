import NetworkLab
import ReachabilityCore
import Synchronization
import Testing

@testable import Reachability

/// Dumps while the kernel's tables change continually.
@Suite struct ChurnTests {
    @Test func `links that appear and disappear do not prevent a monitor from settling`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        for number in 0..<40 { try lab.rtnl.createVeth("keep\(number)", peer: "peer\(number)") }
        let churn = try Churn {
            try lab.rtnl.createVeth("come", peer: "go")
            try lab.rtnl.deleteLink("come")
        }
        defer { churn.stop() }
        for _ in 0..<10 {
            let probe = try EngineProbe(in: lab)
            defer { probe.engine.stop() }
            try probe.wait(for: .wifi)
            let view = try probe.engine.view()
            #expect(view.evaluation.path.interface?.name == "wan0")
            #expect(view.snapshot.links.count { $0.name.hasPrefix("keep") } == 40)
            #expect(probe.statuses == [.wifi])
            #expect(probe.engine.counters.probes == 0)
        }
    }

    @Test func `IPv6 routes that are added and removed never cost the default route`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "2001:db8::2/64")
        try LabEvents(in: lab).wait(for: "the address") {
            try lab.rtnl.addresses(.ipv6, on: "wan0").contains { $0.isReady }
        }
        for number in 0..<2_000 {
            try lab.rtnl.addRoute("2a00:\(String(number, radix: 16))::/32", via: "2001:db8::1", on: "wan0")
        }
        try lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wan0")
        let churn = try Churn {
            try lab.rtnl.deleteRoute("2a00:1::/32", via: "2001:db8::1", on: "wan0")
            try lab.rtnl.addRoute("2a00:1::/32", via: "2001:db8::1", on: "wan0")
        }
        defer { churn.stop() }
        for _ in 0..<10 {
            let probe = try EngineProbe(in: lab)
            defer { probe.engine.stop() }
            let view = try probe.engine.view()
            #expect(view.evaluation.path.ipv6?.interface.name == "wan0")
            #expect(view.snapshot.routes(.ipv6, .main).count == 1)
            #expect(probe.statuses == [.wifi])
        }
    }

    /// A thread that repeats an action.
    private final class Churn: Sendable {
        private let thread: LabThread
        private let ends: Flag

        init(_ body: @escaping @Sendable () throws -> Void) throws {
            let ends = Flag()
            self.ends = ends
            thread = try LabThread {
                while !ends.isSet { try? body() }
            }
        }

        func stop() {
            ends.set()
            thread.join()
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }
}
