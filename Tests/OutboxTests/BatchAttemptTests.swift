import DurableStore
import HTTPLab
import NetworkClient
import NetworkClientTesting
import NetworkLab
import Outbox
import OutboxCore
import Testing

/// Batches whose attempts fail: they keep their keys, and wait.
@Suite(.timeLimit(.minutes(5))) struct BatchAttemptTests {
    private let clock = LabClock()

    /// Adds two items to a lane that sends batches of two.
    private func add(to outbox: Outbox, _ lab: OutboxLab, _ options: LaneOptions) async throws {
        for number in 1...2 { try await lab.lane(outbox, options).post("a", .text("\(number)")) }
    }

    @Test func `a batch that the session resent after a lost response is not divided`() async throws {
        let received = Observed(0)
        let lab = try OutboxLab { request in
            let number = received.update { received in
                received += 1
                return received
            }
            if number == 1 { return [.reset] }
            if number == 2 { return [.response("later", status: "503 Service Unavailable")] }
            return request.body.count > 2 ? [.response("bad", status: "400 Bad Request")] : [.response("done")]
        }
        let adding = try await lab.open(clock, sends: false)
        try await add(to: adding, lab, .init(batch: .ndjson(items: 2, linger: .zero)))
        let retry = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))
        let configuration = HTTPConfiguration(
            timeouts: OutboxLab.patient,
            proxy: .direct,
            retry: retry,
            connectivity: ScriptedMonitor(.wifi)
        )
        let session = try HTTPSession(configuration: configuration)
        let outbox = try await Outbox(at: lab.path, session, .init(minimumFreeSpace: 0), clock: clock.machine)
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        let marked = try await outbox.storage.store.read { database in
            try database.first("SELECT count(first_sent) FROM item") { $0.integer(0) }
        }
        #expect(marked == 2)
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        let ends = try await outbox.next(2).map(\.end)
        #expect(ends == [.refused, .refused])
        let requests = lab.server.requests.value
        #expect(requests.count == 3 && Set(requests.map { $0["Idempotency-Key"] }).count == 1)
        await outbox.shutdown()
        await adding.shutdown()
    }

    /// A server that rejects the first request.
    private func rejectingLab() throws -> OutboxLab {
        let received = Observed(0)
        return try OutboxLab { _ in
            let number = received.update { received in
                received += 1
                return received
            }
            return number == 1 ? [.response("no", status: "404 Not Found")] : [.response("done")]
        }
    }

    /// Waits until the first attempt of a batch is stored as failed.
    private func waitForFailure(_ outbox: Outbox) async throws {
        while try await outbox.items().first?.attempts == 0 { try await Task.sleep(for: .milliseconds(2)) }
    }

    /// Opens an outbox that adds a batch whose items have two attempts, and one that has sent it once.
    private func openRejected(_ lab: OutboxLab) async throws -> (adding: Outbox, sending: Outbox) {
        let adding = try await lab.open(clock, sends: false)
        try await add(to: adding, lab, .init(batch: .ndjson(items: 2, linger: .zero), itemAttempts: 2))
        let sending = try await lab.open(clock)
        try await waitForFailure(sending)
        return (adding, sending)
    }

    @Test(arguments: [false, true])
    func `a batch that failed waits before it is resent, and holds back a strict lane`(isStrict: Bool) async throws {
        let lab = try rejectingLab()
        let options = LaneOptions(
            order: .ordered(isStrict: isStrict),
            batch: .ndjson(items: 2, linger: .zero),
            itemAttempts: 2
        )
        let adding = try await lab.open(clock, sends: false)
        try await add(to: adding, lab, options)
        let outbox = try await lab.open(clock)
        try await waitForFailure(outbox)
        try await lab.lane(adding, options).post("b", .text("3"))
        if !isStrict {
            let next = try await outbox.next(1).map(\.reference)
            #expect(next == ["b"])
        }
        try await Task.sleep(for: .milliseconds(200))
        #expect(lab.server.requests.value.count == (isStrict ? 1 : 2))
        clock.advance(by: .seconds(31))
        try await outbox.wake()
        let rest = try await outbox.next(isStrict ? 3 : 2)
        #expect(rest.allSatisfy { $0.end == .delivered })
        let paths = lab.server.requests.value.map(\.path)
        #expect(paths == ["/v1/a"] + (isStrict ? ["/v1/a", "/v1/b"] : ["/v1/b", "/v1/a"]))
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `a batch whose item is retried by command is resent immediately`() async throws {
        let lab = try rejectingLab()
        let (adding, outbox) = try await openRejected(lab)
        let items = try await outbox.items()
        let id = try #require(items.last?.id)
        try await outbox.storage.perform(.retry, on: id.rawValue)
        let ends = try await outbox.next(2).map(\.end)
        #expect(ends == [.delivered, .delivered])
        #expect(lab.server.requests.value.count == 2)
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `an item of a batch that the server rejected may be cancelled, as the batch was not processed`()
        async throws
    {
        let lab = try rejectingLab()
        let (adding, outbox) = try await openRejected(lab)
        let items = try await outbox.items()
        try await outbox.cancel(try #require(items.first?.id))
        clock.advance(by: .seconds(31))
        try await outbox.wake()
        let ends = try await outbox.next(2).map(\.end)
        #expect(ends == [.cancelled, .delivered])
        #expect(lab.server.requests.value.last?.body == Array("2\n".utf8))
        await outbox.shutdown()
        await adding.shutdown()
    }
}
