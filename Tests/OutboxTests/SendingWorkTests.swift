import HTTPLab
import LinuxSystem
import NetworkLab
import Outbox
import Testing

@testable import netwatch_outbox

/// The work of `run` besides sending.
@Suite(.timeLimit(.minutes(15))) struct SendingWorkTests {
    @Test func `the contents are read while the items of other users are still being collected`() async throws {
        let (lab, wakeup) = (try OutboxLab(), try Wakeup())
        let (isCollecting, mayEnd, isCollected) = (Observed(false), Observed(false), Observed(false))
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let work = SendingWork(outbox, wakeup, once: false) {
            isCollecting.update { $0 = true }
            _ = try? await mayEnd.wait(for: "the contents", within: .seconds(60)) { $0 }
            isCollected.update { $0 = true }
            return []
        }
        work.look()
        try await isCollecting.wait(for: "the collection") { $0 }
        for _ in 1...2 {
            work.look()
            while work.takeContents() == nil {
                try #require(!isCollected.value)
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        mayEnd.update { $0 = true }
        work.end()
        await outbox.shutdown()
    }
}
