import NetworkClient
import OutboxCore

/// Sends the items of an outbox, while its process holds the sender's lock.
actor Sender {
    private struct Lane {
        var stored: StoredLane
        var state: LaneState
        /// The number of conclusions that are not stored yet, and of those that are.
        var pendingConclusions = 0
        var storedConclusions = 0
    }

    /// An attempt that is under way, or waits for its path.
    private struct Attempt {
        let lane: Int64
        let task: Task<Void, Never>
        let withdrawal: Withdrawal

        /// Cancels the attempt, if it only waits for its path.
        func withdraw() { if withdrawal.withdraw() { task.cancel() } }
    }

    private let storage: BoxStorage
    private let transactions: SendingTransactions
    private let session: HTTPSession
    private let credentials: CredentialLookup?
    private let signal: Signal
    private let cost: PathCost
    private var lanes: [Int64: Lane] = [:]
    /// The items that are being sent or wait for their path.
    private var underway: Set<Int64> = []
    private var attempts: [Int64: Attempt] = [:]
    private var isStopping = false
    /// The time at the beginning of the last turn, and the time since boot.
    private var lastTime: (time: BoxTime, sinceBoot: Int64)?
    private var generator = SystemRandomNumberGenerator()
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

    /// The maximum number of parcels that are under way together.
    private static let largestNumberUnderway = 256

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
                for attempt in running { attempt.task.cancel() }
            }
        }
        for attempt in running { await attempt.task.value }
        timer?.cancel()
    }

    /// Ends the pauses of all lanes because a path came back, as far as the servers allow.
    func pathReturned() async {
        let now = await currentTime()
        for id in lanes.keys { lanes[id]?.state.pathReturned(at: now) }
        signal.raise()
    }

    /// Applies the limits of lanes, because the machine's path became expensive, or no longer is.
    func costChanged() {
        for attempt in attempts.values where lanes[attempt.lane]?.stored.options.bytesPerDay != nil {
            attempt.withdraw()
        }
        signal.raise()
    }

    /// Starts what may be started.
    ///
    /// - Returns: The time until the next turn; nil to wait for a signal.
    private func turn() async -> Duration? {
        do {
            let conclusions = lanes.mapValues(\.storedConclusions)
            let overview = try await transactions.overview()
            lastTime = (overview.now, overview.sinceBoot)
            if overview.needsTime { try await transactions.storeTime() }
            merge(overview.lanes, after: conclusions)
            // One that waits for a path is withdrawn first.
            for id in overview.expired { attempts[id]?.withdraw() }
            let expired = overview.expired.filter { !underway.contains($0) }
            if !expired.isEmpty { try await transactions.expire(expired) }
            var next = overview.nextExpiry
            for lane in overview.lanes {
                guard let time = try await fill(lane, overview.now) else { continue }
                next = min(next ?? time, time)
            }
            return next.map { max(overview.now.duration(to: $0), .milliseconds(1)) }
        } catch {
            report(.init(error))
            return .seconds(5)
        }
    }

    /// Takes over what other processes have changed.
    ///
    /// - Parameters:
    ///   - stored: The lanes as they were read.
    ///   - conclusions: The number of conclusions of each lane that were stored before.
    private func merge(_ stored: [StoredLane], after conclusions: [Int64: Int]) {
        for lane in stored {
            guard var known = lanes[lane.id] else {
                let state = LaneState(lane.options.rules, isPaused: lane.isPaused, pause: lane.pause)
                lanes[lane.id] = .init(stored: lane, state: state)
                continue
            }
            known.state.rules = lane.options.rules
            // Otherwise the pause that was read is an earlier one.
            let isCurrent = known.pendingConclusions == 0 && known.storedConclusions == conclusions[lane.id]
            // A command has removed the pause.
            if isCurrent, lane.pause == nil, known.stored.pause != nil { known.state.resume() }
            known.state.isPaused = lane.isPaused
            // What waits for a path starts again by the new rules.
            if lane.optionsText != known.stored.optionsText {
                for attempt in attempts.values where attempt.lane == lane.id { attempt.withdraw() }
            }
            let pause = isCurrent ? lane.pause : known.stored.pause
            known.stored = lane
            known.stored.pause = pause
            lanes[lane.id] = known
        }
    }

    /// Starts the items that a lane may send.
    ///
    /// - Returns: When there may be more without another event.
    private func fill(_ lane: StoredLane, _ now: BoxTime) async throws -> BoxTime? {
        let room = Self.largestNumberUnderway - attempts.count
        guard let state = lanes[lane.id]?.state, room > 0 else { return nil }
        let count = min(state.allowance(at: now), room)
        guard count > 0 else { return state.wakeTime }
        let delay = transactions.delay(of: lane, storage.clock.read())
        if delay > .zero { return now.advanced(by: delay) }
        var budget = self.budget(of: lane, now)
        if budget == 0 { return lane.budget.end }
        let supply = try await transactions.supply(of: lane, count, besides: underway, room: budget)
        for parcel in supply.parcels.prefix(count) where !isStopping {
            guard lanes[lane.id]?.state.allowance(at: now) ?? 0 > 0 else { break }
            guard parcel.items.allSatisfy({ !underway.contains($0.id) }) else { continue }
            if let left = budget {
                guard parcel.size <= left else { break }
                budget = left - parcel.size
            }
            await start(parcel, lane, now)
        }
        return [supply.next, budget.flatMap { _ in lane.budget.end }].compactMap(\.self).min()
    }

    /// Returns how many bytes a lane may send now; nil for any number.
    private func budget(of lane: StoredLane, _ now: BoxTime) -> Int64? {
        guard let limit = lane.options.bytesPerDay, cost.isExpensive else { return nil }
        return lane.budget.room(of: limit, at: now)
    }

    private func start(_ parcel: Parcel, _ lane: StoredLane, _ now: BoxTime) async {
        let damaged = parcel.items.filter { !$0.isIntact }
        for item in damaged {
            await conclude(
                .init(parcel: .init(item), step: .end(.damaged), record: item.record, reason: StoredItem.damage),
                lane.id
            )
        }
        guard damaged.isEmpty else { return signal.raise() }
        if case .end(let end) = parcel.record.stepBeforeAttempt(lane.options.rules, at: now) {
            let reason =
                end == .expired
                ? "its lifetime ended before it was delivered"
                : "the server may have processed it, and no longer recognizes its key"
            await conclude(.init(parcel: parcel, step: .end(end), record: parcel.record, reason: reason), lane.id)
            return
        }
        for item in parcel.items { underway.insert(item.id) }
        let isProbe = lanes[lane.id]?.state.started() ?? false
        let withdrawal = Withdrawal()
        let attempt = SendAttempt(
            parcel: parcel,
            lane: lane,
            storage: storage,
            session: session,
            credentials: credentials,
            withdrawal: withdrawal,
            cost: cost
        )
        let task = Task {
            let result = await attempt.run()
            await finish(parcel, lane.id, isProbe, result)
        }
        attempts[parcel.items[0].id] = .init(lane: lane.id, task: task, withdrawal: withdrawal)
    }

    private func finish(_ parcel: Parcel, _ lane: Int64, _ isProbe: Bool, _ result: SendAttempt.Result?) async {
        let verdict = result?.attempt.verdict ?? .interrupted(mayBeProcessed: false)
        var record = parcel.record
        let now = await currentTime()
        // Marked before the first attempt that may have been processed; the parcel is as it was before.
        let isFirst = record.firstSent == nil
        if isFirst, result != nil { record.firstSent = attempts[parcel.items[0].id]?.withdrawal.firstSent ?? now }
        lanes[lane]?.state.ended(verdict, isProbe: isProbe, at: now, using: &generator)
        if let result, let rules = lanes[lane]?.state.rules {
            let step = record.apply(verdict, isFirst: isFirst, rules, at: now)
            var conclusion = SendingTransactions.Conclusion(
                parcel: parcel,
                step: step,
                record: record,
                reason: result.reason
            )
            if case .end(let end) = step, end == .uncertain { conclusion.reason += "; it has no key, or no longer" }
            conclusion.response = result.response
            let wasSent = !isFirst || attempts[parcel.items[0].id]?.withdrawal.mayBeProcessed == true
            if verdict == .itemFailed, !wasSent || rules.isRepeatable, let status = result.response?.status {
                conclusion.split = BatchRules.split(parcel.items.count, status: status)
            }
            await conclude(conclusion, lane)
        } else {
            await retrying { try await self.transactions.unmark(parcel) }
        }
        for item in parcel.items { underway.remove(item.id) }
        attempts[parcel.items[0].id] = nil
        if !isStopping { signal.raise() }
    }

    /// Stores the consequence of an attempt: until that succeeds, the items stay under way.
    private func conclude(_ conclusion: SendingTransactions.Conclusion, _ lane: Int64) async {
        lanes[lane]?.pendingConclusions += 1
        var conclusion = conclusion
        let pause = lanes[lane]?.state.pause
        if pause != lanes[lane]?.stored.pause { conclusion.pause = .some(pause) }
        lanes[lane]?.stored.pause = pause
        let stored = conclusion
        await retrying { try await self.transactions.conclude(stored) }
        lanes[lane]?.pendingConclusions -= 1
        lanes[lane]?.storedConclusions += 1
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
