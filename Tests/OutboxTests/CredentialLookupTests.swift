import HTTPLab
import NetworkLab
import Outbox
import Testing

/// Items that are withdrawn while their credential is looked up: nothing of them was sent.
@Suite(.timeLimit(.minutes(5))) struct CredentialLookupTests {
    /// The number of lookups that have begun.
    private let lookups = Observed(0)

    private func add(to lane: OutboxLane) async throws -> OutboxItem.ID {
        try await lane.post("a", .text("x"), options: .init(credential: "cloud"))
    }

    @Test func `a change of the lane during the lookup of a credential does not pause the lane`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open { [lookups] _ in
            let number = lookups.update { lookups in
                lookups += 1
                return lookups
            }
            // Ends with an error when it is cancelled.
            if number == 1 { try await Task.sleep(for: .seconds(3_600)) }
            return .bearer("token")
        }
        _ = try await add(to: lab.lane(outbox))
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        try await lab.lane(outbox, .init(priority: 1)).update()
        while try await outbox.statistics().outcomes == 0 {
            let pause = try await outbox.storage.lanes().first?.pause
            try #require(pause == nil)
            try await Task.sleep(for: .milliseconds(2))
        }
        let ends = try await outbox.next(1).map(\.end)
        #expect(ends == [.delivered])
        await outbox.shutdown()
    }

    @Test func `an outbox is closed although a source of credentials does not respond`() async throws {
        let (lab, isClosed, isReleased) = (try OutboxLab(), Observed(false), Observed(false))
        let outbox = try await lab.open { [lookups] _ in
            lookups.update { $0 += 1 }
            // Takes no notice of a cancellation.
            try await isReleased.wait(for: "the end of the test") { $0 }
            return .bearer("token")
        }
        let id = try await add(to: lab.lane(outbox))
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        Task {
            await outbox.shutdown(within: .zero)
            isClosed.update { $0 = true }
        }
        try await isClosed.wait(for: "the end of the shutdown", within: .seconds(60)) { $0 }
        isReleased.update { $0 = true }
        let next = try await lab.open { _ in .bearer("token") }
        let ends = try await next.next(1).map { "\($0.id) \($0.end)" }
        #expect(ends == ["\(id) delivered"])
        #expect(lab.server.requests.value.count == 1)
        await next.shutdown()
    }
}
