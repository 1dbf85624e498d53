import LinuxSystem
import Locking
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

@Suite(.timeLimit(.minutes(10))) struct EngineRunTests {
    @Test func `a job that is submitted while a start fails is refused, or run without an event loop`() throws {
        let state = EngineState(.init(namespace: .path("/no/such/file"))) { _ in }
        for _ in 0..<100 {
            let run = try EngineRun(state, after: [])
            let hasLoop = BlockingPromise<Bool>()
            if run.perform({ hasLoop.fulfill($0 != nil) }) {
                #expect(hasLoop.wait(until: SystemClock.now.advanced(by: .seconds(120))) == false)
            }
            #expect(throws: ReachabilityError.self) { try run.waitUntilOpened() }
            run.stop()
        }
    }

    @Test func `a job does not wait until the whole routing table has been read`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let current = Lock<MonitorEngine?>(nil)
        let dumps = LabInbox<UInt64>()
        // The first state is published before the routes are read.
        let engine = MonitorEngine(.init()) { _ in
            guard let engine = current.withLock({ $0 }) else { return }
            _ = engine.perform { dumps.put(engine.counters.dumps) }
        }
        current.withLock { $0 = engine }
        try lab.run { try engine.start() }
        defer {
            engine.stop()
            current.withLock { $0 = nil }
        }
        _ = try engine.view()
        let atFirstJob = try dumps.wait(for: "the job") { !$0.isEmpty }[0]
        #expect(atFirstJob < engine.counters.dumps)
    }
}
