import Glibc
import Locking
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Starting and stopping, from any thread, any number of times.
@Suite(.timeLimit(.minutes(10))) struct LifecycleTests {
    @Test func `a thousand cycles leave no descriptor and no thread behind`() async {
        // In a separate process, so that the descriptors of other tests are not counted.
        await #expect(processExitsWith: .success) {
            let lab = try LabNamespace()
            try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
            let changes = LabInbox<ReachabilityStatus>()
            let engine = MonitorEngine(.init()) { changes.put($0.status) }
            await ThreadFacts.startClocks()
            let descriptors = ThreadFacts.descriptorCount
            try lab.run {
                for _ in 0..<1_000 {
                    try engine.start()
                    engine.stop()
                }
            }
            await ThreadFacts.waitForDescriptors(descriptors)
            // A thread that was joined stays in the list for a moment.
            await ThreadFacts.wait { !$0.contains("reachability") }
            #expect(changes.all.count { $0 == .unknown } == 1_000)
        }
    }

    @Test func `each run begins with the state and ends with unknown`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let probe = try EngineProbe(in: lab)
        try probe.wait(for: .notReachable)
        probe.engine.stop()
        probe.engine.stop()
        try lab.run {
            try probe.engine.start()
            try probe.engine.start()
        }
        try probe.wait(for: .notReachable)
        probe.engine.stop()
        let changes = probe.changes.all
        #expect(changes.map(\.status) == [.notReachable, .unknown, .notReachable, .unknown])
        #expect(changes.map(\.event) == [.state, .change, .state, .change])
        #expect(changes.map(\.sequence) == [1, 2, 3, 4])
        #expect(changes[1].reasons == [.notStarted])
    }

    @Test func `the sink may stop the engine, and start it again`() throws {
        let lab = try LabNamespace()
        let changes = LabInbox<ReachabilityChange>()
        let holder = Holder()
        let engine = MonitorEngine(.init()) { change in
            changes.put(change)
            guard change.sequence == 1 else { return }
            holder.engine?.stop()
            holder.engine?.stop()
            try? holder.engine?.start()
        }
        holder.engine = engine
        try lab.run { try engine.start() }
        let all = try changes.wait(for: "the second run's state") { $0.count >= 3 }
        #expect(all.prefix(3).map(\.event) == [.state, .change, .state])
        engine.stop()
        #expect(changes.all.map(\.sequence) == [1, 2, 3, 4], "each run continues the numbers of the one before")
        #expect(engine.counters.published == 4)
        holder.engine = nil
    }

    @Test func `the sink may start the engine and stop it again, any number of times`() throws {
        let lab = try LabNamespace()
        let changes = LabInbox<ReachabilityChange>()
        let holder = Holder()
        let engine = MonitorEngine(.init()) { change in
            changes.put(change)
            guard change.sequence == 1 else { return }
            for _ in 0..<3 {
                holder.engine?.stop()
                try? holder.engine?.start()
            }
        }
        holder.engine = engine
        try lab.run { try engine.start() }
        try changes.wait(for: "the last run's state") { $0.count > 1 && $0.last?.event == .state }
        #expect(try engine.view().isSettled)
        engine.stop()
        #expect(changes.all.last?.status == .unknown)
        holder.engine = nil
    }

    @Test func `in the sink, a run answers questions; one that begins after the sink does not`() throws {
        let lab = try LabNamespace()
        let answers = LabInbox<[Bool]>()
        let holder = Holder()
        let destination = try #require(IPAddress("192.0.2.9"))
        let ask: @Sendable () -> [Bool] = {
            [
                (try? holder.engine?.view(within: .zero)) != nil,
                (try? holder.engine?.path(to: destination)) != nil,
                (try? holder.engine?.knownPath(to: destination, requiring: .any)) != nil,
                (try? holder.engine?.trafficMeter()) != nil,
            ]
        }
        let engine = MonitorEngine(.init()) { change in
            guard change.sequence == 1 else { return }
            answers.put(ask())
            holder.engine?.stop()
            try? holder.engine?.start()
            answers.put(ask())
        }
        holder.engine = engine
        try lab.run { try engine.start() }
        let all = try answers.wait(for: "the answers") { $0.count >= 2 }
        #expect(all == [[true, true, true, true], [false, false, false, false]])
        engine.stop()
        holder.engine = nil
    }

    @Test func `releasing an engine stops it`() throws {
        let lab = try LabNamespace()
        let changes = LabInbox<ReachabilityChange>()
        do {
            let engine = MonitorEngine(.init()) { changes.put($0) }
            try lab.run { try engine.start() }
            try changes.wait(for: "the state") { !$0.isEmpty }
        }
        try changes.wait(for: "the end") { $0.last?.reasons == [.notStarted] }
    }

    @Test func `many threads may start and stop concurrently`() throws {
        let lab = try LabNamespace()
        let engine = MonitorEngine(.init()) { _ in }
        let threads = try (0..<8).map { number in
            try LabThread {
                for _ in 0..<50 {
                    if number.isMultiple(of: 2) { try? lab.run { try engine.start() } } else { engine.stop() }
                }
            }
        }
        for thread in threads { thread.join() }
        engine.stop()
        #expect(throws: ReachabilityError.self) { try engine.view() }
    }

    @Test func `jobs run on the event thread, or not at all`() throws {
        let lab = try LabNamespace()
        let engine = MonitorEngine(.init()) { _ in }
        #expect(!engine.perform {})
        try lab.run { try engine.start() }
        let done = LabInbox<Int>()
        for number in 0..<100 { #expect(engine.perform { done.put(number) }) }
        engine.stop()
        #expect(done.all == Array(0..<100))
        #expect(!engine.perform {})
    }

    /// Sendable because the test writes before and after the engine runs.
    private final class Holder: Sendable {
        private let kept = Lock<MonitorEngine?>(nil)

        var engine: MonitorEngine? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }
    }
}
