import HTTPLab
import NetworkClient
import NetworkClientTesting
import NetworkLab
import Outbox
import OutboxCore
import Testing

/// The hours of lanes, and their bytes a day.
@Suite(.timeLimit(.minutes(5))) struct LaneLimitItemTests {
    private func bodies(_ lab: OutboxLab) -> [String] {
        lab.server.requests.value.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func `a lane sends in its hours, and only while the clock is synchronized`() async throws {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let outbox = try await lab.open(clock)
        let night = LaneOptions(priority: 1, hours: .init(from: 22, to: 6))
        try await outbox.lane("night", to: lab.server.url, night).post("a", .text("night"))
        // The lane with the higher priority is asked first in each turn.
        let other = lab.lane(outbox)
        try await other.post("a", .text("noon"))
        #expect(try await outbox.next(1).first?.lane == "readings")
        clock.setSynchronized(false)
        clock.advance(by: .seconds(11 * 3_600))
        try await other.post("a", .text("unsynchronized"))
        #expect(try await outbox.next(1).first?.lane == "readings")
        #expect(bodies(lab) == ["noon", "unsynchronized"])
        clock.setSynchronized(true)
        try await outbox.wake()
        #expect(try await outbox.next(1).first?.lane == "night")
    }

    @Test func `bytes over an expensive path are limited per day, also by the next process`() async throws {
        let network = ScriptedMonitor(.cellular)
        let (lab, clock) = (try OutboxLab(connectivity: network), LabClock())
        let first = try await lab.open(clock)
        let options = LaneOptions(order: .ordered(isStrict: true), priority: 1, bytesPerDay: 1_000)
        let lane = first.lane("limited", to: lab.server.url, options)
        for number in 1...6 { try await lane.post("\(number)", .text(String(repeating: "x", count: 400))) }
        #expect(try await first.next(2).map(\.reference) == ["1", "2"])
        await first.shutdown()
        let second = try await lab.open(clock)
        try await lab.lane(second).post("other")
        #expect(try await second.next(1).map(\.reference) == ["other"])
        clock.advance(by: .seconds(86_400))
        try await second.wake()
        #expect(try await second.next(2).map(\.reference) == ["3", "4"])
        let again = second.lane("limited", to: lab.server.url, options)
        try await again.post("5", .text(String(repeating: "x", count: 400)))
        try await lab.lane(second).post("other")
        #expect(try await second.next(1).map(\.reference) == ["other"])
        network.status = .wifi
        #expect(try await second.next(1).map(\.reference) == ["5"])
    }

    @Test func `a batch over an expensive path is no larger than what is left of the day`() async throws {
        let (lab, clock) = (try OutboxLab(connectivity: ScriptedMonitor(.cellular)), LabClock())
        let adding = try await lab.open(clock, sends: false)
        let options = LaneOptions(batch: .ndjson(items: 10, linger: .zero), bytesPerDay: 1_000)
        for number in 1...6 {
            let body = "\"\(number)\(String(repeating: "x", count: 397))\""
            try await lab.lane(adding, options).post("a", .text(body))
        }
        let outbox = try await lab.open(clock)
        for day in 1...3 {
            let ends = try await outbox.next(2).map { "\($0.id) \($0.end)" }
            #expect(ends == ["\(day * 2 - 1) delivered", "\(day * 2) delivered"])
            clock.advance(by: .seconds(86_400))
            try await outbox.wake()
        }
        #expect(lab.server.requests.value.count == 3)
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `a batch that was composed for a path without a limit is divided for one with a limit`() async throws {
        let network = ScriptedMonitor(.wifi)
        let isReached = Observed(false)
        let lab = try OutboxLab(connectivity: network) { _ in
            isReached.value ? [.response("done")] : [.response(status: "503 Service Unavailable")]
        }
        let clock = LabClock()
        let adding = try await lab.open(clock, sends: false)
        let options = LaneOptions(batch: .ndjson(items: 10, linger: .zero), bytesPerDay: 1_000)
        for _ in 1...6 { try await lab.lane(adding, options).post("a", .text(String(repeating: "7", count: 400))) }
        let outbox = try await lab.open(clock)
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        // The new path ends the pause at once, and the next one would last as long as the clock stands still.
        isReached.update { $0 = true }
        network.status = .cellular
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        #expect(try await outbox.next(2).map(\.end) == [.delivered, .delivered])
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test func `a download is stopped at the limit also if the server does not identify its version`() async throws {
        let latch = try ServerLatch()
        let lab = try OutboxLab(connectivity: ScriptedMonitor(.cellular)) { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
            return [.send(head), .sendBytes(.init(repeating: 7, count: 2_000)), .await(latch)]
        }
        let outbox = try await lab.open(LabClock())
        try await lab.lane(outbox, .init(bytesPerDay: 1_000)).download("map", to: "\(lab.folder.path)/map")
        let deadline = ContinuousClock.now + .seconds(60)
        while try await outbox.storage.lanes().first?.budget.spent != 2_000, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await outbox.storage.lanes().first?.budget.spent == 2_000)
        while try await outbox.items().first?.state != .waiting, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await outbox.items().map(\.state) == [.waiting])
        #expect(lab.server.requests.value.count == 1)
        latch.open()
        await outbox.shutdown(within: .zero)
    }

    @Test func `bytes of a download that failed count also if the server does not identify its version`() async throws {
        let lab = try OutboxLab(connectivity: ScriptedMonitor(.cellular)) { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
            return [.send(head), .sendBytes(.init(repeating: 7, count: 2_000)), .close]
        }
        let outbox = try await lab.open(LabClock())
        try await lab.lane(outbox, .init(bytesPerDay: 1_000_000)).download("map", to: "\(lab.folder.path)/map")
        let deadline = ContinuousClock.now + .seconds(60)
        while try await outbox.storage.lanes().first?.budget.spent ?? 0 < 2_000, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await outbox.storage.lanes().first?.budget.spent ?? 0 >= 2_000)
        await outbox.shutdown(within: .zero)
    }

    @Test func `the end of a day is no reason to wake for once it is over`() async throws {
        let (lab, clock) = (try OutboxLab(connectivity: ScriptedMonitor(.cellular)), LabClock())
        let (machine, reads) = (clock.machine, Observed(0))
        let counting = MachineClock(
            read: {
                reads.update { $0 += 1 }
                return machine.read()
            },
            secondOfDay: machine.secondOfDay
        )
        let outbox = try await Outbox(at: lab.path, lab.session, .init(minimumFreeSpace: 0), clock: counting)
        try await outbox.lane("limited", to: lab.server.url, .init(bytesPerDay: 1_000)).post("a", .text("x"))
        #expect(try await outbox.next(1).first?.end == .delivered)
        clock.advance(by: .seconds(86_400))
        try await outbox.wake()
        // A sender that woke for a time in the past would read the clock several times a millisecond, without end.
        try await Task.sleep(for: .milliseconds(100))
        let before = reads.value
        try await Task.sleep(for: .milliseconds(300))
        #expect(reads.value - before < 20)
        await outbox.shutdown()
    }

    @Test(.timeLimit(.minutes(5)))
    func `lanes whose items all wait for a path do not hold back another lane`() async throws {
        let lab = try OutboxLab(connectivity: ScriptedMonitor(.cellular))
        let adding = try await lab.open(OutboxLab.addsOnly)
        let waiting = LaneOptions(order: .unordered(width: 64), path: .notExpensive, priority: 1)
        // More than may be under way together.
        for number in 1...6 {
            let lane = adding.lane("waiting-\(number)", to: "https://192.0.2.7", waiting)
            for _ in 1...64 { try await lane.post("a") }
        }
        try await lab.lane(adding).post("b")
        await adding.shutdown()
        let outbox = try await lab.open()
        #expect(try await outbox.next(1).first?.lane == "readings")
        await outbox.shutdown()
    }

    @Test func `an item that waits for a path follows the lane's new requirement`() async throws {
        let network = ScriptedMonitor(.cellular)
        let lab = try OutboxLab(connectivity: network)
        let outbox = try await lab.open()
        try await lab.lane(outbox, .init(path: .notExpensive)).post("a", .text("x"))
        // The outbox watches the network, and so does the request that waits for a path.
        try await network.waitUntilWatched()
        try await lab.lane(outbox, .init(path: .any)).update()
        #expect(try await outbox.next(1).first?.end == .delivered)
    }

    @Test func `an item that would expire before it may be sent is refused, if the clock is synchronized`() async throws
    {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let outbox = try await lab.open(clock, sends: false)
        let lane = lab.lane(outbox)
        let start = Double(clock.machine.read().wall) / 1e9 + 8 * 86_400
        let error = await #expect(throws: OutboxError.self) {
            try await lane.post("a", options: .init(notBefore: start))
        }
        #expect(error?.code == .invalidRequest && error?.reason.contains("make it longer") == true)
        try await lane.post("a", options: .init(lifetime: nil, notBefore: start))
        clock.setSynchronized(false)
        try await lane.post("a", options: .init(notBefore: start))
        // Until here it is not closed.
        await outbox.shutdown()
    }

    @Test func `a moment that can't be stored is refused`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let moments = [Double.infinity, -.infinity, .nan, 9.3e9, -9.3e9]
        for moment in moments {
            let error = await #expect(throws: OutboxError.self) {
                try await lab.lane(outbox).post("a", options: .init(lifetime: nil, notBefore: moment))
            }
            #expect(error?.code == .invalidRequest && error?.reason.contains("before the year 2261") == true)
        }
        await outbox.shutdown()
    }

    @Test func `a moment that is centuries away is compared with the lifetime`() async throws {
        let (lab, clock) = (try OutboxLab(), LabClock())
        let outbox = try await lab.open(clock, sends: false)
        let lane = lab.lane(outbox)
        // In 1681, which is over.
        try await lane.post("a", options: .init(notBefore: -9.1e9))
        // In 2258, after the lifetime.
        let error = await #expect(throws: OutboxError.self) {
            try await lane.post("a", options: .init(notBefore: 9.1e9))
        }
        #expect(error?.code == .invalidRequest)
        await outbox.shutdown()
    }

    @Test func `limits are stored with the lane, and impossible ones are refused`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let options = LaneOptions(hours: .init(from: 22, to: 6), bytesPerDay: 10)
        try await lab.lane(outbox, options).update()
        #expect(try await outbox.storage.lanes().first?.options == options)
        for (wrong, text) in [
            (LaneOptions(hours: .init(from: 25, to: 6)), "from 25 to 6: hours are 0 to 24"),
            (LaneOptions(bytesPerDay: -1), "bytesPerDay is -1"),
            (LaneOptions(keyField: "Idempotency Key"), "keyField is 'Idempotency Key', which is no name of a field"),
            (LaneOptions(keyField: ""), "keyField is '', which is no name of a field"),
            (LaneOptions(keyField: "Host"), "keyField is 'Host', which the client sets itself"),
            (LaneOptions(keyField: "Cookie"), "keyField is 'Cookie', which is kept for secrets"),
            (LaneOptions(confirmation: .field("X:Server")), "confirmation is 'X:Server', which is no name of a field"),
        ] {
            let error = await #expect(throws: OutboxError.self) { try await lab.lane(outbox, wrong).post("a") }
            #expect(error?.code == .invalidRequest && error?.reason.contains(text) == true)
        }
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.1.2.3:80", true), ("[::1]:80", true), ("localhost", true), ("LOCALHOST:80", true),
        ("127.example.com", false), ("127.0.0.1.example.com:80", false), ("localhost.example.com", false),
        ("[::2]", false), ("128.0.0.1", false),
    ])
    func `plain http is taken for this machine only`(
        host: String,
        isTaken: Bool
    ) async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        var refusal: String?
        do { try await outbox.lane("readings", to: "http://\(host)/v1").post("a") } catch { refusal = "\(error)" }
        #expect(
            (refusal == nil) == isTaken && refusal?.contains("any captive portal can respond") != false,
            "\(refusal ?? "-")"
        )
        await outbox.shutdown()
    }
}
