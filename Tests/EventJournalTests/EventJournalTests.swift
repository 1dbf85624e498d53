import CommandLineLab
import DurableStore
import EventCore
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing
import ValidationCore

@testable import EventJournal

@Suite(.timeLimit(.minutes(5))) struct EventJournalTests {
    private let lab: JournalLab

    init() throws { lab = try JournalLab() }

    private static let day: Int64 = 86_400

    /// Runs that ended, each with so many events.
    private func write(_ runs: (run: UInt64, events: UInt64)..., padding: Int = 0) {
        for (run, events) in runs {
            let journal = lab.open(run: run)
            for sequence in 1...events { journal.append(.numbered(sequence, padding: padding)) }
            journal.close()
        }
    }

    @Test func `events of several runs are read in the order of the runs`() async {
        write((9, 2), (3, 2), (5, 1))
        let journal = lab.open(run: 1)
        #expect(await journal.ids(after: 9, 1) == ["9.2", "3.1", "3.2", "5.1"])
        let page = await journal.page(after: .init(run: 9, sequence: 1))
        #expect(page.entries.allSatisfy { $0.gap == nil } && page.successor == 1)
        #expect(page.entries.first.map { String(decoding: $0.event, as: UTF8.self) } == "{\"seq\":2}\n")
        #expect(await journal.page(after: .init(run: 9, sequence: 1), limit: 2).entries.count == 2)
        #expect(await journal.page(after: .init(run: 8, sequence: 1)).failure == .unknown)
        journal.close()
    }

    @Test func `without a thread of its own, a journal is tried again once after an interval`() async throws {
        // On a slow machine, the first interval may have passed before the last call, which then begins another.
        for interval in [Duration.milliseconds(100), .seconds(1), .seconds(10)] {
            let (stream, jobs) = AsyncStream<JournalJob>.makeStream()
            let flushLater = EventJournal.delayedFlush(after: interval, jobs, nil)
            let start = ContinuousClock.now
            for _ in 0..<5 { flushLater() }
            guard ContinuousClock.now - start < interval else { continue }
            var iterator = stream.makeAsyncIterator()
            _ = await iterator.next()
            #expect(ContinuousClock.now - start >= interval)
            try await Task.sleep(for: interval * 3)
            jobs.finish()
            #expect(await iterator.next() == nil)
            return
        }
        Issue.record("five calls took longer than 10 s")
    }

    @Test func `an event number that is too large for the journal is unknown`() async throws {
        let journal = lab.open(run: 1)
        journal.append(.numbered(1))
        _ = await journal.ids(after: 1)
        // The run in the copy was killed.
        let copy = try copiedLab()
        let next = copy.open(run: 2)
        for sequence in [UInt64(Int64.max) + 1, .max] {
            #expect(await next.page(after: .init(run: 1, sequence: sequence)).failure == .unknown)
        }
        #expect(await next.ids(after: 1) == ["1.1"])
        #expect(copy.words.all == [])
        next.close()
        journal.close()
    }

    @Test func `the order of runs is not that of the wall clock`() async {
        let first = lab.open(run: 1, boot: "a", at: .at(0, wall: 2_000_000_000))
        first.append(.numbered(1))
        first.close()
        let second = lab.open(run: 2, boot: "b", at: .at(0, wall: 1_000_000_000))
        second.append(.numbered(1))
        #expect(await second.ids(after: 1, 0) == ["1.1", "2.1"])
        second.close()
    }

    /// The number of the newest event that is stored.
    private func newest(_ journal: EventJournal) async -> UInt64? {
        await journal.start(since: .zero, at: .at(1000)).map { $0.sequence + 1 }
    }

    @Test func `a change of the state is stored immediately, other events later or when they are read`() async {
        let journal = lab.open(run: 1)
        journal.append(.numbered(1, .wifi))
        #expect(await newest(journal) == 1)
        journal.append(.numbered(2, .wifi))
        #expect(await newest(journal) == 1)
        journal.append(.numbered(3, .notReachable))
        #expect(await newest(journal) == 3)
        journal.append(.numbered(4, .notReachable))
        #expect(await newest(journal) == 3)
        #expect(await journal.ids(after: 1) == ["1.1", "1.2", "1.3", "1.4"])
        journal.close()
        let quick = lab.open(run: 2, interval: .milliseconds(1))
        quick.append(.numbered(1, .wifi))
        #expect(await newest(quick) == 1)
        quick.append(.numbered(2, .wifi))
        while await newest(quick) != 2 {}
        quick.close()
    }

    @Test func `counters of earlier runs are added, and survive a run that is killed`() async throws {
        write((1, 5))
        let journal = lab.open(run: 2)
        #expect(await journal.totals()?.reasons == ["route.added": 5])
        journal.append(.numbered(1))
        var totals = EventTotals()
        totals.reasons = ["route.added": 7]
        totals.nanoseconds = [.cellular: 3]
        totals.outages = 2
        journal.save(totals, at: .at(9))
        _ = await journal.ids(after: 2)
        let copy = try copiedLab()
        let next = copy.open(run: 3)
        let restored = try #require(await next.totals())
        #expect(restored.reasons == ["route.added": 12] && restored.outages == 2)
        #expect(restored.nanoseconds == [.cellular: 3])
        next.close()
        journal.close()
    }

    /// The state of the files as a process that is killed now leaves them, and another one after it finds them.
    private func copiedLab(truncatingLogTo length: Int? = nil) throws -> JournalLab {
        let copy = try JournalLab()
        for name in ["events.db", "events.db-wal", "in-use"] {
            guard var bytes = try? Repository.bytes(of: "\(lab.path)/\(name)") else { continue }
            if let length, name.hasSuffix("-wal") { bytes = Array(bytes.prefix(length)) }
            try copy.folder.write("journal/\(name)", bytes)
        }
        return copy
    }

    @Test func `whenever it is killed, what is there is a beginning of the events, with all that were stored`()
        async throws
    {
        let journal = lab.open(run: 1)
        var random = SeededGenerator(seed: 7)
        for sequence in UInt64(1)...10 {
            journal.append(.numbered(sequence, sequence % 2 == 0 ? .wifi : .cellular))
            _ = await journal.ids(after: 1)
            let size = try Repository.bytes(of: "\(lab.path)/events.db-wal").count
            // Also in the middle of writing what was stored last.
            for length in [size, size - Int.random(in: 1...4096, using: &random)] {
                let copy = try copiedLab(truncatingLogTo: length)
                let next = copy.open(run: 2)
                next.append(.numbered(1))
                let page = await next.page(after: .init(run: 1, sequence: 0))
                let numbers = page.entries.filter { $0.id.run == 1 }.map(\.id.sequence)
                #expect(numbers == Array(1...UInt64(max(numbers.count, 1))).prefix(numbers.count).map { $0 })
                #expect(length < size || numbers.count == Int(sequence))
                // Events after the last one may be lost.
                #expect(numbers.isEmpty || page.entries.last?.gap?.reason == .lost)
                #expect(copy.words.all == [])
                next.close()
            }
        }
        journal.close()
    }

    @Test func `events that are too old are removed, by the time that has passed`() async {
        let limits = JournalLimits(age: .seconds(10))
        let journal = lab.open(run: 1, limits: limits)
        journal.append(.numbered(1, at: .at(1)))
        journal.close()
        // Ten years forth and back by the wall clock, within a minute.
        let next = lab.open(run: 2, at: .at(5, wall: 300_000_000), limits: limits)
        next.append(.numbered(1, at: .at(5, wall: 300_000_000)))
        #expect(await next.ids(after: 1) == ["1.1", "2.1"])
        next.append(.numbered(2, .cellular, at: .at(6, wall: 10)))
        #expect(await next.ids(after: 1) == ["1.1", "2.1", "2.2"])
        next.close()
        let last = lab.open(run: 3, at: .at(12), limits: limits)
        last.append(.numbered(1, at: .at(12)))
        #expect(await last.page(after: .init(run: 1, sequence: 0)).failure == .expired)
        #expect(await last.ids(after: 1, 1) == ["2.1", "2.2", "3.1"])
        last.close()
    }

    @Test func `the oldest events are removed when the size is reached`() async {
        let journal = lab.open(run: 1, limits: .init(size: 200_000))
        for sequence in UInt64(1)...400 {
            journal.append(.numbered(sequence, sequence % 2 == 0 ? .wifi : .cellular, padding: 2000))
            // Each read stores what waits before.
            if sequence % 4 == 0 { _ = await journal.ids(after: 1, 399) }
        }
        #expect(await journal.page(after: .init(run: 1, sequence: 0)).failure == .expired)
        let kept = await journal.ids(after: 1, 399)
        #expect(kept == ["1.400"])
        journal.close()
        let again = lab.open(run: 2)
        var first: UInt64 = 400
        while await again.page(after: .init(run: 1, sequence: first - 1)).failure == nil { first -= 1 }
        // Every 16th commit removes events until some 90 are left, and at most 60 are stored after the last of these.
        #expect((240...390).contains(first))
        again.close()
    }

    @Test func `a damaged journal is set aside, and a new one begins`() async throws {
        try lab.folder.write("journal/events.db", String(repeating: "no database ", count: 1000))
        let journal = lab.open(run: 1)
        journal.append(.numbered(1))
        #expect(await journal.ids(after: 1) == ["1.1"])
        #expect(journal.health == .init(isStoring: true, lost: 0))
        #expect(lab.words.all.count == 1 && lab.words.all.first?.contains("is kept as") == true)
        #expect(try Repository.bytes(of: lab.path + "/events.db.damaged").starts(with: Array("no database".utf8)))
        journal.close()
    }

    @Test func `damage while it is written is noticed, and what follows is stored`() async throws {
        // More than SQLite keeps in memory.
        for run in UInt64(11)...14 { write((run, 1000), padding: 2000) }
        let journal = lab.open(run: 2)
        journal.append(.numbered(1))
        _ = await journal.ids(after: 2)
        for name in ["events.db", "events.db-wal"] {
            let file = open("\(lab.path)/\(name)", O_WRONLY)
            let noise = [UInt8](repeating: 0xAA, count: 1 << 16)
            for offset in stride(from: 0, to: 1 << 18, by: noise.count) {
                pwrite(file, noise, noise.count, off_t(offset))
            }
            close(file)
        }
        _ = await journal.page(after: .init(run: 11, sequence: 0))
        journal.append(.numbered(2, .cellular))
        journal.append(.numbered(3, .wifi))
        #expect(await journal.ids(after: 2, 1).suffix(1) == ["2.3"])
        journal.close()
        #expect(lab.words.all.contains { $0.contains("is kept as") })
    }

    @Test func `events are stored also after another process has removed the journal`() async {
        let journal = lab.open(run: 1)
        journal.append(.numbered(1))
        #expect(await journal.ids(after: 1) == ["1.1"])
        for end in ["", "-wal", "-shm"] { unlink("\(lab.path)/events.db\(end)") }
        journal.append(.numbered(2, .cellular))
        #expect(await journal.ids(after: 1, 1) == ["1.2"])
        #expect(journal.health == .init(isStoring: true, lost: 0))
        journal.close()
        let next = lab.open(run: 2)
        next.append(.numbered(1))
        #expect(await next.ids(after: 1, 1) == ["1.2", "2.1"])
        next.close()
    }

    @Test func `a journal that cannot be written says so once, keeps what it can, and says when it can again`()
        async throws
    {
        // A file in the place of the folder; root may write everywhere else.
        try lab.folder.write("journal", "")
        let journal = lab.open(run: 1, interval: .milliseconds(1))
        #expect(await journal.totals() == nil)
        journal.append(.numbered(1))
        #expect(await journal.page(after: .init(run: 1, sequence: 0)).failure == .unknown)
        journal.append(.numbered(2, .cellular))
        #expect(journal.health.isStoring == false)
        #expect(lab.words.all.count == 1)
        #expect(lab.words.all.first?.hasPrefix("events are served, but not stored in '\(lab.path)': cannot") == true)
        unlink(lab.path)
        journal.append(.numbered(3))
        while !journal.health.isStoring {
            journal.save(.init(), at: .at(3))
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(await journal.ids(after: 1) == ["1.1", "1.2", "1.3"])
        #expect(lab.words.all.last == "events are stored in '\(lab.path)' again")
        journal.close()
    }

    @Test func `a journal that cannot be written is tried again, without another event`() async throws {
        try lab.folder.write("journal", "")
        let journal = lab.open(run: 1, interval: .milliseconds(1))
        journal.append(.numbered(1))
        #expect(await journal.page(after: .init(run: 1, sequence: 0)).failure == .unknown)
        #expect(journal.health.isStoring == false)
        unlink(lab.path)
        let deadline = ContinuousClock.now + .seconds(120)
        while !journal.health.isStoring, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(journal.health == .init(isStoring: true, lost: 0))
        #expect(await journal.ids(after: 1) == ["1.1"])
        journal.close()
    }

    @Test func `events that do not fit into memory while the journal cannot be written are counted`() async throws {
        try lab.folder.write("journal", "")
        let journal = lab.open(run: 1)
        for sequence in UInt64(1)...2000 { journal.append(.numbered(sequence)) }
        _ = await journal.ids(after: 1)
        #expect(journal.health.lost == 976)
        unlink(lab.path)
        journal.close()
        let next = lab.open(run: 2)
        let page = await next.page(after: .init(run: 1, sequence: 1), limit: 2)
        #expect(page.entries.first?.gap?.reason == .lost)
        next.close()
    }

    @Test func `events that arrive while a batch is being stored don't add to the limit once that has failed`() {
        let queue = JournalQueue()
        for sequence in UInt64(1)...1000 { _ = queue.append(.numbered(sequence)) }
        #expect(queue.batch().events.count == 1000)
        for sequence in UInt64(1001)...2000 { _ = queue.append(.numbered(sequence)) }
        #expect(queue.health.lost == 0)
        #expect(queue.hasFailed())
        #expect(queue.health.lost == 976)
        #expect(queue.batch().events.first?.sequence == 977)
    }

    @Test func `a period begins with the event before it`() async {
        let journal = lab.open(run: 1)
        for sequence in UInt64(1)...5 {
            journal.append(.numbered(sequence, sequence % 2 == 0 ? .wifi : .cellular, at: .at(Int64(sequence) * 10)))
        }
        #expect(await journal.start(since: .seconds(25), at: .at(60)) == .init(run: 1, sequence: 2))
        #expect(await journal.start(since: .seconds(900), at: .at(60)) == .init(run: 1, sequence: 0))
        journal.close()
    }

    @Test func `the report has each day's availability, whatever the wall clock did`() async throws {
        let start = EventMetrics.Moment.at(0, wall: 1_000 * Self.day)
        let journal = lab.open(run: 1, at: start)
        journal.append(.numbered(1, .wifi, at: start))
        journal.append(.numbered(2, .notReachable, at: .at(3600, wall: 5)))
        journal.append(.numbered(3, .wifi, at: .at(5400, wall: 9_000 * Self.day)))
        let now = EventMetrics.Moment.at(36 * 3600, wall: 1_001 * Self.day + 12 * 3600)
        let report = try JSONParser.parse(try #require(await journal.report(since: .seconds(2 * Self.day), at: now)))
        #expect(report["v"]?.number == 1 && report["outages"]?.number == 1)
        #expect(report["unreachable"]?.number == 1800 && report["unknown"]?.number == 0)
        #expect(report["reachable"]?.number == 127_800.0)
        let days = try #require(report["days"]?.elements)
        #expect(days.map { $0["day"]?.text } == ["1972-09-27", "1972-09-28"])
        #expect(days.map { $0["available"]?.number } == [0.9791, 1])
        #expect(report["list"]?.elements?.first?["from"]?.text == "\(1_000 * Self.day + 3600)")
        #expect(report["list"]?.elements?.first?["reasons"]?.elements?.first?.text == "route.added")
        journal.close()
    }

    @Test func `the state lasts until the end of a run, and is unknown until the next one`() async throws {
        let first = lab.open(run: 1)
        first.append(.numbered(1, at: .at(0)))
        first.save(.init(), at: .at(1000))
        first.close()
        let second = lab.open(run: 2, at: .at(1500))
        second.append(.numbered(1, at: .at(1500)))
        let report = try JSONParser.parse(try #require(await second.report(since: .seconds(9000), at: .at(2000))))
        #expect(report["reachable"]?.number == 1500 && report["unknown"]?.number == 500)
        second.close()
    }

    @Test func `times with a verdict against the path are listed, and are no outages`() async throws {
        let journal = lab.open(run: 1)
        let time = Timestamp(seconds: 0, nanoseconds: 0)
        let portal = ValidationSummary(verdict: .portal(.init(loginURL: "http://h.example/\u{1B}")), since: time)
        let verdicts = [
            nil, portal, .init(verdict: .validated, since: time), .init(verdict: .noInternet(.refused), since: time),
        ]
        for (index, verdict) in verdicts.enumerated() {
            let number = UInt64(index) + 1
            journal.append(.numbered(number, at: .at(Int64(index) * 100), verdict: verdict))
        }
        let text = try #require(await journal.report(since: .seconds(9000), at: .at(350)))
        let report = try JSONParser.parse(text)
        #expect(report["outages"]?.number == 0 && report["reachable"]?.number == 350)
        let list = try #require(report["limitations"]?.elements)
        #expect(list.map { $0["verdict"]?.text } == ["portal", "noInternet"])
        #expect(list.map { $0["from"]?.text } == ["1000100", "1000300"] && list[0]["until"]?.text == "1000200")
        #expect(list[1]["until"] == .null && list[1]["reason"]?.text == "internet.refused")
        #expect(list[0]["loginURL"]?.text == "http://h.example/\u{1B}" && !text.contains("\u{1B}"))
        journal.close()
    }

    @Test func `without verdicts the report does not mention any`() async throws {
        let journal = lab.open(run: 1)
        journal.append(.numbered(1, at: .at(0)))
        #expect(await journal.report(since: .seconds(9000), at: .at(10))?.contains("limit") == false)
        journal.close()
    }

    @Test func `one service at a time has the lock of a folder, and a reader needs none`() async throws {
        write((1, 1))
        do {
            let lock = try JournalLock(of: lab.path)
            #expect(throws: JournalInUse.self) { try JournalLock(of: lab.path, timeout: .zero) }
            let journal = lab.open(run: 2)
            #expect(await journal.ids(after: 1) == ["1.1"])
            journal.close()
            withExtendedLifetime(lock) {}
        }
        #expect(throws: Never.self) { try JournalLock(of: lab.path) }
    }

    /// Locks the folder until a thread ends, which takes a moment.
    private func lockBriefly() throws -> LabThread {
        let lock = try JournalLock(of: lab.path)
        return try LabThread {
            usleep(50_000)
            withExtendedLifetime(lock) {}
        }
    }

    @Test func `a service waits for the lock of one that is about to end`() throws {
        let thread = try lockBriefly()
        #expect(throws: Never.self) { try JournalLock(of: lab.path, timeout: .seconds(60)) }
        thread.join()
    }

    @Test func `a folder that can't be locked is no error`() throws {
        // The journal itself reports this one.
        #expect(try JournalLock(of: "/proc/no-such-folder").problem == nil)
        mkdir(lab.path, 0o700)
        // As if the file were another user's.
        #expect(mkdir("\(lab.path)/service.lock", 0o700) == 0)
        let problem = try #require(try JournalLock(of: lab.path).problem)
        #expect(problem == "\(lab.path)/service.lock: cannot open the lock: Is a directory")
    }

    /// Returns the lock of a folder that can't be locked: a directory has the place of the lock's file.
    private func unavailableLock() throws -> JournalLock {
        mkdir(lab.path, 0o700)
        #expect(mkdir("\(lab.path)/service.lock", 0o700) == 0)
        return try JournalLock(of: lab.path)
    }

    @Test func `a folder that couldn't be locked is locked as soon as it can be, which is said once`() async throws {
        let journal = lab.open(run: 1, lock: try unavailableLock())
        journal.append(.numbered(1))
        #expect(await journal.ids(after: 1) == ["1.1"])
        #expect(rmdir("\(lab.path)/service.lock") == 0)
        for sequence in UInt64(2)...3 {
            journal.append(.numbered(sequence, sequence == 2 ? .cellular : .wifi))
            #expect(await journal.ids(after: 1, sequence - 1) == ["1.\(sequence)"])
        }
        #expect(throws: JournalInUse.self) { try JournalLock(of: lab.path, timeout: .zero) }
        #expect(lab.words.all == ["'\(lab.path)' is locked now: no other service can use the journal"])
        journal.close()
    }

    @Test func `a service that couldn't lock its folder stores nothing while another one has the lock`() async throws {
        let journal = lab.open(run: 1, interval: .milliseconds(1), lock: try unavailableLock())
        journal.append(.numbered(1))
        #expect(await journal.ids(after: 1) == ["1.1"])
        #expect(rmdir("\(lab.path)/service.lock") == 0)
        do {
            let other = try JournalLock(of: lab.path)
            journal.append(.numbered(2, .cellular))
            #expect(await journal.page(after: .init(run: 1, sequence: 0)).isReadable == false)
            #expect(journal.health.isStoring == false)
            let second = lab.open(run: 2, lock: other)
            var totals = EventTotals()
            totals.reasons = ["route.added": 5]
            second.save(totals, at: .at(9))
            second.close()
        }
        let deadline = ContinuousClock.now + .seconds(120)
        while !journal.health.isStoring, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(await journal.ids(after: 1) == ["1.1", "1.2"])
        let words = lab.words.all
        let failure = "another service uses it; end that service"
        #expect(words.first == "events are served, but not stored in '\(lab.path)': \(failure)")
        #expect(words.count == 3 && words.last == "events are stored in '\(lab.path)' again")
        journal.close()
        // Those of both services: the other has counted what this one had stored before, and 5 more.
        let next = lab.open(run: 3)
        let totals = await next.totals()
        #expect(totals?.reasons == ["route.added": 7])
        next.close()
    }
}
