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

    /// Opens an outbox whose credential "cloud" is not supplied before a test releases it.
    private func openUnanswered(_ lab: OutboxLab, _ isReleased: Observed<Bool>, clock: LabClock) async throws -> Outbox
    {
        let lookups = lookups
        let source: Outbox.CredentialSource = { name in
            if name == "cloud" {
                lookups.update { $0 += 1 }
                // Takes no notice of a cancellation.
                try await isReleased.wait(for: "the end of the test", within: .seconds(3_600)) { $0 }
            }
            return .bearer("token")
        }
        return try await Outbox(at: lab.path, lab.session, .init(minimumFreeSpace: 0), source, clock: clock.machine)
    }

    /// Expects that an ordered lane goes on, and that the first item is neither sent nor looked up again.
    private func expectNext(
        _ outbox: Outbox,
        _ lab: OutboxLab,
        _ lane: OutboxLane,
        release isReleased: Observed<Bool>
    ) async throws {
        try await lab.server.requests.wait(for: "the next item", within: .seconds(60)) { $0.count == 1 }
        isReleased.update { $0 = true }
        let last = try await lane.post("c", .text("x"), options: .init(credential: "other"))
        #expect(try await outbox.storage.waitForEnd(of: last.rawValue).end == .delivered)
        #expect(lab.server.requests.value.map(\.path) == ["/v1/b", "/v1/c"])
        #expect(lookups.value == 1)
        await outbox.shutdown()
    }

    @Test(arguments: [BoxStorage.Command.cancel, .drop, .hold])
    func `an item that is ended or held back during its lookup does not hold up an ordered lane`(
        command: BoxStorage.Command
    ) async throws {
        let (lab, isReleased) = (try OutboxLab(), Observed(false))
        let outbox = try await openUnanswered(lab, isReleased, clock: LabClock())
        let lane = lab.lane(outbox, .init(order: .ordered(isStrict: true)))
        let id = try await add(to: lane)
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        try await lane.post("b", .text("x"))
        try await outbox.storage.perform(command, on: id.rawValue)
        try await expectNext(outbox, lab, lane, release: isReleased)
    }

    @Test func `an item that is cancelled during the lookup of its batch does not hold up the others`() async throws {
        let (lab, isReleased) = (try OutboxLab(), Observed(false))
        let outbox = try await openUnanswered(lab, isReleased, clock: LabClock())
        let options = LaneOptions(order: .ordered(isStrict: true), batch: .ndjson(items: 1, linger: .zero))
        let lane = lab.lane(outbox, options)
        let id = try await add(to: lane)
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        try await lane.post("b", .text("x"))
        try await outbox.cancel(id)
        try await expectNext(outbox, lab, lane, release: isReleased)
    }

    @Test func `a batch from which an item is cancelled during the lookup is sent with its other items`() async throws {
        let (lab, isReleased) = (try OutboxLab(), Observed(false))
        let outbox = try await lab.open { [lookups] _ in
            let number = lookups.update { lookups in
                lookups += 1
                return lookups
            }
            // Takes no notice of a cancellation.
            if number == 1 {
                try await isReleased.wait(for: "the end of the test", within: .seconds(3_600)) { $0 }
            }
            return .bearer("token")
        }
        let options = LaneOptions(
            order: .ordered(isStrict: true),
            batch: .ndjson(items: 3, linger: .seconds(3_600))
        )
        let lane = lab.lane(outbox, options)
        var ids: [OutboxItem.ID] = []
        for number in 1...3 {
            ids.append(try await lane.post("a", .text("\(number)"), options: .init(credential: "cloud")))
        }
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        try await outbox.cancel(ids[1])
        let ends = try await outbox.next(3).map { "\($0.id) \($0.end)" }
        #expect(ends == ["\(ids[1]) cancelled", "\(ids[0]) delivered", "\(ids[2]) delivered"])
        #expect(lab.server.requests.value.map(\.body) == [Array("1\n3\n".utf8)])
        #expect(lookups.value == 2)
        isReleased.update { $0 = true }
        await outbox.shutdown()
    }

    @Test func `an item that expires during its lookup does not hold up an ordered lane`() async throws {
        let (lab, isReleased, clock) = (try OutboxLab(), Observed(false), LabClock())
        let outbox = try await openUnanswered(lab, isReleased, clock: clock)
        let lane = lab.lane(outbox, .init(order: .ordered(isStrict: true)))
        let options = ItemOptions(credential: "cloud", lifetime: .seconds(10))
        let id = try await lane.post("a", .text("x"), options: options)
        try await lookups.wait(for: "the lookup") { $0 == 1 }
        try await lane.post("b", .text("x"))
        clock.advance(by: .seconds(11))
        try await outbox.wake()
        #expect(try await outbox.storage.waitForEnd(of: id.rawValue).end == .expired)
        try await expectNext(outbox, lab, lane, release: isReleased)
    }
}
