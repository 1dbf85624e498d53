import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Real overruns: a blocked reader, and a buffer too small for the messages meanwhile.
@Suite struct OverrunTests {
    @Test func `a blocked reader finds the right state afterwards`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        var configuration = MonitorConfiguration()
        configuration.receiveBufferSize = 1
        let stopped = try StoppedReader(in: lab, configuration)
        defer { stopped.engine.stop() }
        for number in 1...200 {
            try lab.rtnl.addAddress("198.51.100.\(number)/32", on: "wan0")
        }
        try lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
        stopped.goOn()

        let all = try stopped.changes.wait(for: "notReachable") { $0.last?.status == .notReachable }
        #expect(all.map(\.event).prefix(2) == [.state, .resync])
        #expect(all.filter { $0.event == .change }.map(\.status) == [.notReachable])
        let view = try stopped.engine.view()
        #expect(view.isSettled)
        #expect(view.snapshot.addresses[10]?.count { $0.address.family == .ipv4 } == 201)
        #expect(stopped.engine.counters.overruns >= 1)
        #expect(stopped.engine.counters.resyncs == 1)
        // Later messages are received.
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        try stopped.changes.wait(for: "wifi") { $0.last?.status == .wifi }
    }

    @Test func `a blocked reader without free descriptors finds the right state afterwards`() async {
        // In a separate process without free descriptors.
        await #expect(processExitsWith: .success) {
            let lab = try LabNamespace()
            try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
            try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
            var configuration = MonitorConfiguration()
            configuration.receiveBufferSize = 1
            let stopped = try StoppedReader(in: lab, configuration)
            for number in 1...200 {
                try lab.rtnl.addAddress("198.51.100.\(number)/32", on: "wan0")
            }
            try lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let spare = (0..<256).map { _ in dup(STDIN_FILENO) }
            try #require(spare.contains(-1))
            defer { for descriptor in spare where descriptor >= 0 { close(descriptor) } }
            stopped.goOn()
            try stopped.changes.wait(for: "notReachable") { $0.last?.status == .notReachable }
            #expect(try stopped.engine.view().isSettled)
            #expect(stopped.engine.counters.resyncs == 1)
            #expect(stopped.engine.counters.reopened == 0)
            try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
            try stopped.changes.wait(for: "wifi") { $0.last?.status == .wifi }
        }
    }

    @Test func `overruns leave no descriptor behind`() async {
        await #expect(processExitsWith: .success) {
            // Before the monitor opens a timer too.
            await ThreadFacts.startClocks()
            let lab = try LabNamespace()
            try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
            var configuration = MonitorConfiguration()
            configuration.receiveBufferSize = 1
            let stopped = try StoppedReader(in: lab, configuration)
            let descriptors = ThreadFacts.descriptorCount
            for number in 1...200 {
                try lab.rtnl.addAddress("198.51.100.\(number)/32", on: "wan0")
            }
            stopped.goOn()
            #expect(try stopped.engine.view().isSettled)
            #expect(stopped.engine.counters.overruns >= 1)
            await ThreadFacts.waitForDescriptors(descriptors)
        }
    }

    @Test func `repeated overruns end in the right state`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        var configuration = MonitorConfiguration()
        configuration.receiveBufferSize = 1
        let probe = try EngineProbe(in: lab, configuration)
        defer { probe.engine.stop() }
        for _ in 0..<2_000 {
            try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
            try lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0")
        }
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        try probe.wait(for: .wifi)
        let view = try probe.engine.view()
        #expect(view.isSettled)
        #expect(view.evaluation.path.status == .wifi)
        #expect(view.snapshot.routes(.ipv4, .main).count == 1)
    }

    /// An engine whose thread waits in the sink at the first change until it is released.
    private final class StoppedReader: Sendable {
        let engine: MonitorEngine
        let changes = LabInbox<ReachabilityChange>()
        private let release = LabInbox<Bool>()

        init(in lab: LabNamespace, _ configuration: MonitorConfiguration) throws {
            engine = MonitorEngine(configuration) { [changes, release] change in
                changes.put(change)
                if change.sequence == 1 { _ = try? release.wait(for: "the test", within: .seconds(60)) { !$0.isEmpty } }
            }
            try lab.run { try engine.start() }
            try changes.wait(for: "the first change") { !$0.isEmpty }
        }

        func goOn() { release.put(true) }
    }
}
