import HTTPLab
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// The repair of a database: what it keeps besides the rows.
@Suite(.timeLimit(.minutes(2))) struct SalvageTests {
    @Test(arguments: [false, true])
    func `the numbers of items continue after a repair, although all items have ended`(
        areAcknowledged: Bool
    ) async throws {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let first = try await lab.open(clock)
        for number in 1...3 { try await lab.lane(first).post("\(number)", .text("x")) }
        while try await first.statistics().ended[.delivered] != 3 { try await Task.sleep(for: .milliseconds(2)) }
        if areAcknowledged { _ = try await first.next(3) }
        await first.shutdown()
        try BoxSalvage(files: BoxStorage.files(of: lab.path), at: clock.machine.read()).run()
        let second = try await lab.open(clock)
        let id = try await lab.lane(second).post("4", .text("x"))
        #expect(id.rawValue == 4)
        let outcome = try await second.storage.waitForEnd(of: id.rawValue)
        #expect(outcome.end == .delivered && outcome.reference == "4" && outcome.sequence == 4)
        await second.shutdown()
    }
}
