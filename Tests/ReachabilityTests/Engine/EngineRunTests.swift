import LinuxSystem
import ReachabilityCore
import Testing

@testable import Reachability

@Suite(.timeLimit(.minutes(10))) struct EngineRunTests {
    @Test func `a job that is submitted while a start fails is refused, or run without an event loop`() throws {
        let state = EngineState(.init(namespace: .path("/no/such/file"))) { _ in }
        for _ in 0..<100 {
            let run = try EngineRun(state, after: nil)
            let hasLoop = BlockingPromise<Bool>()
            if run.perform({ hasLoop.fulfill($0 != nil) }) {
                #expect(hasLoop.wait(until: SystemClock.now.advanced(by: .seconds(30))) == false)
            }
            #expect(throws: ReachabilityError.self) { try run.waitUntilOpened() }
            run.stop()
        }
    }
}
