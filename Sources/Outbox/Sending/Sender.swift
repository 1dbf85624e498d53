import NetworkClient
import OutboxCore

/// Sends the items of an outbox, while its process holds the sender's lock.
actor Sender {
    /// A lane; an object, since its parts change with each item.
    private final class Lane {
        var stored: StoredLane
        var state: LaneState
        /// The number of conclusions that are not stored yet, and of those that are.
        var pendingConclusions = 0
        var storedConclusions = 0
        /// The number of parcels that wait again after they were started.
        var returnedParcels = 0
        var ahead = ReadAhead()

        init(_ stored: StoredLane) {
            self.stored = stored
            state = LaneState(stored.options.rules, isPaused: stored.isPaused, pause: stored.pause)
        }

        /// Whether its parcels may be read before they can be sent: no rule decides about each when there is space for it.
        var mayReadAhead: Bool {
            let options = stored.options
            return options.order.width > 1 && options.batch == nil && options.hours == nil && options.bytesPerDay == nil
        }
    }

    /// An attempt that is under way, or waits for its path.
    private struct Attempt {
        let sending: SendAttempt
        let isProbe: Bool
        /// Nil once it has ended: a response is not kept until its consequence is stored.
        var work: SendAttempt.Work?

        /// Whether its task waits: for a credential or a file, which may never come, or for a path.
        var isWaiting: Bool { if case .task? = work { sending.withdrawal.isOpen } else { false } }

        /// Cancels the attempt, if it only waits for its path.
        func withdraw() { if sending.withdrawal.withdraw() { work?.cancel() } }
    }

    /// A parcel whose attempt has ended, or that can't be sent, and the consequence, which is not stored yet.
    private struct Ended {
        let parcel: Parcel
        let lane: Int64
        let settlement: SendingTransactions.Settlement
        /// Whether its items wait again.
        let returns: Bool
    }

    private let storage: BoxStorage
    private let transactions: SendingTransactions
    private let session: HTTPSession
    private let credentials: CredentialLookup?
    private let signal: Signal
    private let cost: PathCost
    private var lanes: [Int64: Lane] = [:]
    /// Whether a path has come back before any lane was read.
    private var hasPathReturnedEarly = false
    /// The items that are being sent or wait for their path.
    private var underway: Set<Int64> = []
    /// The attempts by their first item.
    private var attempts: [Int64: Attempt] = [:]
    /// The ends of attempts that were not looked at yet, by the first item.
    private let endings = Inbox<(item: Int64, ending: SendAttempt.Ending)>()
    private var ended: [Ended] = []
    /// Whether a task stores what has ended, or is about to.
    private var isStoring = false
    private var isStopping = false
    /// Those who wait until nothing is under way.
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    /// The time at the beginning of the last turn, and the time since boot.
    private var lastTime: (time: BoxTime, sinceBoot: Int64)?
    private var lastOverview: (overview: SendingTransactions.Overview, taken: ContinuousClock.Instant)?
    private var generator = StoredGenerator()
    private let report: @Sendable (OutboxError) -> Void

    init(
        _ storage: BoxStorage,
        _ session: HTTPSession,
        _ credentials: CredentialLookup?,
        _ signal: Signal,
        _ cost: PathCost,
        report: @escaping @Sendable (OutboxError) -> Void
    ) {
        self.storage = storage
        transactions = .init(storage: storage)
        self.session = session
        self.credentials = credentials
        self.signal = signal
        self.cost = cost
        self.report = report
    }

    /// The maximum number of parcels that are under way together, besides one of each lane that has no other.
    private static let largestNumberUnderway = 256
    /// The number of parcels under way up to which the end of one starts the next of its lane.
    private static let largestNumberOfNext = 192

    /// The number of parcels under way from which the lanes are read once per interval, rather than after each change: the
    /// outbox's own changes are the most then.
    private static let busyNumberUnderway = 8
    private static let overviewInterval = Duration.milliseconds(20)

    /// Settles what an earlier sender left, and sends until the sender is stopped.
    func run() async {
        await retrying { try await self.transactions.recover() }
        var delay: Duration? = .zero
        while !isStopping {
            await signal.wait(for: delay)
            if isStopping { return }
            delay = await turn()
        }
    }

    /// Starts nothing more, and waits for what is being sent; what waits for a path stays for the next sender.
    ///
    /// - Parameter limit: The time after which requests are cancelled; nil for no limit.
    func stop(within limit: Duration?) async {
        isStopping = true
        signal.raise()
        let running = Array(attempts.values)
        for attempt in running { attempt.withdraw() }
        let timer = limit.map { limit in
            Task {
                try await Task.sleep(for: limit)
                for attempt in running { attempt.work?.cancel() }
            }
        }
        if !underway.isEmpty { await withCheckedContinuation { idleWaiters.append($0) } }
        timer?.cancel()
    }

    /// Ends the pauses of all lanes because a path came back, as far as the servers allow.
    func pathReturned() async {
        let now = await currentTime()
        // The pauses that are stored end when they are read.
        if lanes.isEmpty { hasPathReturnedEarly = true }
        for id in lanes.keys { lanes[id]?.state.pathReturned(at: now) }
        signal.raise()
    }

    /// Applies the limits of lanes, because the machine's path became expensive, or no longer is.
    func costChanged() {
        for attempt in attempts.values where attempt.sending.lane.options.bytesPerDay != nil {
            attempt.withdraw()
        }
        signal.raise()
    }

    /// Starts what may be started.
    ///
    /// - Returns: The time until the next turn; nil to wait for a signal.
    private func turn() async -> Duration? {
        do {
            let known = recentOverview
            let overview = if let known { known.overview } else { try await readOverview() }
            let now = await currentTime()
            var next = overview.nextExpiry
            for lane in overview.lanes {
                guard let time = await fillOrReport(lane, now) else { continue }
                next = min(next ?? time, time)
            }
            let delay = next.map { max(now.duration(to: $0), .milliseconds(1)) }
            return known.map { min(delay ?? $0.age, max(Self.overviewInterval - $0.age, .milliseconds(1))) } ?? delay
        } catch {
            report(.init(error))
            return .seconds(5)
        }
    }

    /// The last overview, if it is recent enough; nil if the lanes have to be read.
    private var recentOverview: (overview: SendingTransactions.Overview, age: Duration)? {
        guard attempts.count >= Self.busyNumberUnderway, let last = lastOverview else { return nil }
        let age = last.taken.duration(to: .now)
        return age < Self.overviewInterval ? (last.overview, age) : nil
    }

    /// Reads the lanes, and ends the items whose lifetime is over.
    private func readOverview() async throws -> SendingTransactions.Overview {
        let conclusions = lanes.mapValues(\.storedConclusions)
        let taken = ContinuousClock.now
        let overview = try await transactions.overview()
        lastTime = (overview.now, overview.sinceBoot)
        lastOverview = (overview, taken)
        if overview.needsTime { try await transactions.storeTime() }
        merge(overview.lanes, after: conclusions, at: overview.now)
        withdraw(overview.expired)
        let expired = overview.expired.filter { !underway.contains($0) }
        if !expired.isEmpty { try await transactions.expire(expired) }
        try await withdrawRemoved()
        return overview
    }

    /// Withdraws the attempts of items that a command has ended or held back, if they only wait: the program's source of
    /// credentials may never return, and would hold up the lane.
    private func withdrawRemoved() async throws {
        let waiting = attempts.values.filter(\.isWaiting).map(\.sending)
        if waiting.isEmpty { return }
        let areSendable = try await transactions.mayBeSent(waiting.map(\.parcel))
        for (sending, mayBeSent) in zip(waiting, areSendable) where !mayBeSent {
            // Meanwhile another attempt may have begun, of an item that was released.
            let attempt = attempts[sending.parcel.items[0].id]
            if attempt?.sending === sending { attempt?.withdraw() }
        }
    }

    /// Withdraws the attempts of items whose lifetime is over, if they only wait for a path.
    private func withdraw(_ expired: [Int64]) {
        let expired = Set(expired).intersection(underway)
        if expired.isEmpty { return }
        for attempt in attempts.values where attempt.sending.parcel.items.contains(where: { expired.contains($0.id) }) {
            attempt.withdraw()
        }
    }

    /// Takes over what other processes have changed.
    ///
    /// - Parameters:
    ///   - stored: The lanes as they were read.
    ///   - conclusions: The number of conclusions of each lane that were stored before.
    ///   - now: The current time.
    private func merge(_ stored: [StoredLane], after conclusions: [Int64: Int], at now: BoxTime) {
        defer { hasPathReturnedEarly = false }
        for lane in stored {
            guard let known = lanes[lane.id] else {
                let added = Lane(lane)
                if hasPathReturnedEarly { added.state.pathReturned(at: now) }
                lanes[lane.id] = added
                continue
            }
            known.state.rules = lane.options.rules
            // Otherwise the pause that was read is an earlier one.
            let isCurrent = known.pendingConclusions == 0 && known.storedConclusions == conclusions[lane.id]
            // A command has removed the pause.
            if isCurrent, lane.pause == nil, known.stored.pause != nil { known.state.resume() }
            known.state.isPaused = lane.isPaused
            // What waits for a path starts again by the new rules, or at the new destination.
            if lane.optionsText != known.stored.optionsText || lane.destination != known.stored.destination {
                for attempt in attempts.values where attempt.sending.lane.id == lane.id { attempt.withdraw() }
            }
            let pause = isCurrent ? lane.pause : known.stored.pause
            known.stored = lane
            known.stored.pause = pause
            known.ahead.drop()
        }
    }

    /// Starts the items that a lane may send; an error, such as that of a batch for which the disk has no space, is reported, and
    /// holds back no other lane.
    ///
    /// - Returns: When there may be more without another event.
    private func fillOrReport(_ lane: StoredLane, _ now: BoxTime) async -> BoxTime? {
        do {
            return try await fill(lane, now)
        } catch {
            report(.init(error))
            return now.advanced(by: .seconds(5))
        }
    }

    /// Starts the items that a lane may send.
    ///
    /// - Returns: When there may be more without another event.
    private func fill(_ lane: StoredLane, _ now: BoxTime) async throws -> BoxTime? {
        guard let known = lanes[lane.id] else { return nil }
        let state = known.state
        // The parcels of other lanes may all wait for a path: they must not hold back a lane that has none under way.
        let isIdle = state.underway == 0 && known.pendingConclusions == 0
        let room = max(Self.largestNumberUnderway - attempts.count, isIdle ? 1 : 0)
        guard room > 0 else { return nil }
        // In an ordered lane, the next item depends on what has become of the last.
        if state.rules.order.width == 1, known.pendingConclusions > 0 { return nil }
        let count = min(state.allowance(at: now), room)
        guard count > 0 else {
            if state.underway > 0, lanes[lane.id]?.ahead.isLow == true { try await readAhead(of: lane, 1) }
            return state.wakeTime
        }
        let delay = transactions.delay(of: lane, storage.clock.read())
        if delay > .zero { return now.advanced(by: delay) }
        var budget = self.budget(of: lane, now)
        // The end of a day that is over stays stored until bytes are counted again: it is no time to wake for.
        let budgetEnd = budget == nil ? nil : lane.budget.end(after: now)
        if budget == 0 { return budgetEnd }
        guard let supply = try await supply(of: lane, count, room: budget) else { return now }
        for parcel in supply.parcels.prefix(count) where !isStopping {
            guard lanes[lane.id]?.state.allowance(at: now) ?? 0 > 0 else { break }
            guard parcel.items.allSatisfy({ !underway.contains($0.id) }) else { continue }
            if let left = budget {
                guard parcel.size <= left else { break }
                budget = left - parcel.size
            }
            start(parcel, lane, now)
        }
        return [supply.next, budgetEnd].compactMap(\.self).min()
    }

    /// Returns what a lane may send, of what was read ahead if that is enough.
    ///
    /// - Returns: The parcels; nil if what was read is out of date.
    private func supply(of lane: StoredLane, _ count: Int, room: Int64?) async throws -> LaneSupply? {
        guard lanes[lane.id]?.mayReadAhead == true else {
            return try await currentSupply(of: lane, count, ahead: 0, room: room)
        }
        if lanes[lane.id]?.ahead.has(count) == false {
            guard try await readAhead(of: lane, count) else { return nil }
        }
        var supply = LaneSupply(next: lanes[lane.id]?.ahead.next)
        while supply.parcels.count < count, let parcel = takeAhead(of: lane.id) { supply.parcels.append(parcel) }
        return supply
    }

    /// Reads what a lane may send, and more.
    ///
    /// - Returns: Whether it is up to date.
    @discardableResult
    private func readAhead(of lane: StoredLane, _ count: Int) async throws -> Bool {
        lanes[lane.id]?.ahead.grow()
        let ahead = lanes[lane.id]?.ahead.size ?? 0
        guard let supply = try await currentSupply(of: lane, count, ahead: ahead, room: nil) else { return false }
        lanes[lane.id]?.ahead.fill(supply)
        return true
    }

    /// Reads what a lane may send.
    ///
    /// - Returns: The parcels; nil if one of the lane has returned meanwhile, which may be among them as it was before.
    private func currentSupply(
        of lane: StoredLane,
        _ count: Int,
        ahead: Int,
        room: Int64?
    ) async throws -> LaneSupply? {
        let returned = lanes[lane.id]?.returnedParcels
        let supply = try await transactions.supply(of: lane, count, ahead: ahead, besides: underway, room: room)
        return lanes[lane.id]?.returnedParcels == returned ? supply : nil
    }

    /// Takes the next parcel that was read ahead, and is not under way yet; nil if there is none.
    private func takeAhead(of lane: Int64) -> Parcel? {
        while let parcel = lanes[lane]?.ahead.take() {
            if parcel.items.allSatisfy({ !underway.contains($0.id) }) { return parcel }
        }
        return nil
    }

    /// Starts the next parcel that was read ahead, after one has ended.
    private func startNext(of lane: Lane, _ now: BoxTime) {
        // While many are under way, a turn decides which lane is next.
        if !isStopping, lane.mayReadAhead, lane.state.allowance(at: now) > 0, attempts.count < Self.largestNumberOfNext,
            let parcel = takeAhead(of: lane.stored.id)
        {
            start(parcel, lane.stored, now)
            if !lane.ahead.isLow { return }
        }
        signal.raise()
    }

    /// Returns how many bytes a lane may send now; nil for any number.
    private func budget(of lane: StoredLane, _ now: BoxTime) -> Int64? {
        guard let limit = lane.options.bytesPerDay, cost.isExpensive(for: lane.options) else { return nil }
        return lane.budget.room(of: limit, at: now)
    }

    private func start(_ parcel: Parcel, _ lane: StoredLane, _ now: BoxTime) {
        for item in parcel.items { underway.insert(item.id) }
        guard parcel.isIntact else {
            let settlement = SendingTransactions.Settlement.setAside(parcel, isRepeatable: lane.options.isRepeatable)
            return settle(.init(parcel: parcel, lane: lane.id, settlement: settlement, returns: true))
        }
        if case .end(let end) = parcel.record.stepBeforeAttempt(lane.options.rules, at: now) {
            let reason =
                end == .expired
                ? "its lifetime ended before it was delivered"
                : "the server may have processed it, and no longer recognizes its key"
            return conclude(
                .init(
                    parcel: parcel,
                    step: .end(end),
                    record: parcel.record,
                    destination: lane.destination,
                    reason: reason
                ),
                lane.id
            )
        }
        let isProbe = lanes[lane.id]?.state.started() ?? false
        let sending = SendAttempt(parcel, of: lane, transactions, session, credentials, cost)
        let id = parcel.items[0].id
        let work = sending.start { [self] ending in
            if endings.add((id, ending)) { Task { await collect() } }
        }
        attempts[id] = .init(sending: sending, isProbe: isProbe, work: work)
    }

    /// Applies the ends of attempts until none is left; does not wait for what follows to be stored.
    private func collect() async {
        repeat {
            let now = await currentTime()
            for (item, ending) in endings.take() {
                guard let attempt = attempts[item] else { continue }
                finish(attempt, ending, now)
                attempts[item]?.work = nil
            }
        } while !endings.leave()
    }

    private func finish(_ attempt: Attempt, _ ending: SendAttempt.Ending, _ now: BoxTime) {
        let (parcel, lane) = (attempt.sending.parcel, attempt.sending.lane.id)
        let result = attempt.sending.result(of: ending)
        let verdict = result?.attempt.verdict ?? .interrupted(mayBeProcessed: false)
        // An attempt at an earlier destination says nothing about that of now.
        let isCurrent = lanes[lane]?.stored.destination == attempt.sending.lane.destination
        lanes[lane]?.state.ended(
            isCurrent ? verdict : .interrupted(mayBeProcessed: false),
            isProbe: attempt.isProbe,
            at: now,
            using: &generator
        )
        if let result, let rules = lanes[lane]?.state.rules {
            conclude(conclusion(of: attempt.sending, result, rules, now), lane)
        } else {
            settle(.init(parcel: parcel, lane: lane, settlement: .unmark(parcel), returns: true))
        }
        if let lane = lanes[lane] { startNext(of: lane, now) }
    }

    private func conclusion(
        of attempt: SendAttempt,
        _ result: SendAttempt.Result,
        _ rules: LaneRules,
        _ now: BoxTime
    ) -> SendingTransactions.Conclusion {
        let (parcel, verdict) = (attempt.parcel, result.attempt.verdict)
        var record = parcel.record
        // The parcel is as it was before its first attempt, and the session may have retried one that was processed.
        let wasSent = record.firstSent != nil || attempt.withdrawal.mayBeProcessed == true
        if record.firstSent == nil { record.firstSent = attempt.withdrawal.firstSent ?? now }
        let step = record.apply(verdict, isFirst: !wasSent, rules, at: now)
        var conclusion = SendingTransactions.Conclusion(
            parcel: parcel,
            step: step,
            record: record,
            destination: attempt.lane.destination,
            reason: result.reason
        )
        if case .conflict = verdict {
            if wasSent, record.hasKey { conclusion.reason += "; it may still be processing an earlier attempt" }
        } else if case .end(let end) = step, end == .uncertain {
            conclusion.reason += "; it has no key, or no longer"
        }
        conclusion.response = result.response
        if case .itemFailed = verdict, !wasSent || rules.isRepeatable, let status = result.response?.status {
            conclusion.split = BatchRules.split(parcel.items.count, status: status)
        }
        return conclusion
    }

    /// Notes that items of a lane wait again: what was read ahead may have them as they were before.
    private func returned(to lane: Int64) {
        lanes[lane]?.returnedParcels += 1
        lanes[lane]?.ahead.drop()
    }

    /// Has the consequence of an attempt stored: until that succeeds, the items stay under way.
    private func conclude(_ conclusion: SendingTransactions.Conclusion, _ id: Int64) {
        var conclusion = conclusion
        if let lane = lanes[id], lane.state.pause != lane.stored.pause {
            conclusion.pause = .some(lane.state.pause)
            lane.stored.pause = lane.state.pause
        }
        var returns = conclusion.split != nil
        if case .end = conclusion.step {} else { returns = true }
        settle(.init(parcel: conclusion.parcel, lane: id, settlement: .conclusion(conclusion), returns: returns))
    }

    /// Has what becomes of a parcel stored, together with that of others.
    private func settle(_ parcel: Ended) {
        lanes[parcel.lane]?.pendingConclusions += 1
        ended.append(parcel)
        if isStoring { return }
        isStoring = true
        Task { await storeEnded() }
    }

    /// Stores what has ended, each time for all that have ended meanwhile, until none is left.
    private func storeEnded() async {
        while !ended.isEmpty {
            let group = ended
            ended = []
            let failed = await store(group)
            if failed.count < group.count, !isStopping { signal.raise() }
            // What has ended meanwhile does not wait for what can't be stored.
            if ended.isEmpty, !failed.isEmpty { try? await Task.sleep(for: .seconds(1)) }
            ended = failed + ended
        }
        isStoring = false
        guard underway.isEmpty else { return }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }

    /// Stores the consequences for parcels in one transaction, or each in its own if that fails: one alone may be at fault.
    ///
    /// - Returns: The parcels whose consequences could not be stored; none once the sender is stopped.
    private func store(_ group: [Ended]) async -> [Ended] {
        do {
            try await transactions.store(group.map(\.settlement))
            for parcel in group { settled(parcel) }
            return []
        } catch {
            report(.init(error))
        }
        var failed: [Ended] = []
        for parcel in group where await !storeAlone(parcel) { failed.append(parcel) }
        return failed
    }

    /// Stores the consequence for a parcel in a transaction of its own.
    ///
    /// - Returns: Whether it is stored, or is not tried again as the sender is stopped.
    private func storeAlone(_ parcel: Ended) async -> Bool {
        do {
            try await transactions.store([parcel.settlement])
        } catch {
            let error = OutboxError(error)
            report(error)
            guard isStopping || error.code == .closed else { return false }
        }
        settled(parcel)
        return true
    }

    private func settled(_ parcel: Ended) {
        lanes[parcel.lane]?.pendingConclusions -= 1
        lanes[parcel.lane]?.storedConclusions += 1
        if parcel.returns { returned(to: parcel.lane) }
        for item in parcel.parcel.items { underway.remove(item.id) }
        attempts[parcel.parcel.items[0].id] = nil
    }

    /// Returns the current time; within a boot it follows the time since boot.
    private func currentTime() async -> BoxTime {
        if let last = lastTime {
            return last.time.advanced(by: .nanoseconds(storage.clock.read().sinceBoot - last.sinceBoot))
        }
        var now = BoxTime(nanoseconds: 0)
        await retrying { now = try await self.transactions.time() }
        return now
    }

    /// Repeats a transaction until it succeeds, the sender is stopped, or the outbox is closed.
    private func retrying(_ body: () async throws -> Void) async {
        while true {
            do {
                return try await body()
            } catch {
                let error = OutboxError(error)
                report(error)
                if isStopping || error.code == .closed { return }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
