import NetworkClient
import OutboxCore

/// Sends the items of an outbox, while its process holds the sender's lock.
actor Sender {
    private struct Lane {
        var stored: StoredLane
        var state: LaneState
        /// The number of conclusions that are not stored yet.
        var pendingConclusions = 0
    }

    private let storage: BoxStorage
    private let session: HTTPSession
    private let credentials: CredentialLookup?
    private let signal: Signal
    private var lanes: [Int64: Lane] = [:]
    /// The items that are being sent or wait for their path.
    private var underway: Set<Int64> = []
    private var attempts: [Int64: Task<Void, Never>] = [:]
    private var isStopping = false
    private var generator = SystemRandomNumberGenerator()
    private let report: @Sendable (OutboxError) -> Void

    init(
        _ storage: BoxStorage,
        _ session: HTTPSession,
        _ credentials: CredentialLookup?,
        _ signal: Signal,
        report: @escaping @Sendable (OutboxError) -> Void
    ) {
        self.storage = storage
        self.session = session
        self.credentials = credentials
        self.signal = signal
        self.report = report
    }

    /// The maximum number of parcels that are under way together.
    private static let largestNumberUnderway = 256

    /// Settles what an earlier sender left, and sends until the sender is stopped.
    func run() async {
        await retrying { try await self.storage.recover() }
        var delay: Duration? = .zero
        while !isStopping {
            await signal.wait(for: delay)
            if isStopping { return }
            delay = await turn()
        }
    }

    /// Starts nothing more, and waits for what is being sent.
    ///
    /// - Parameter limit: The time after which requests are cancelled; nil for no limit.
    func stop(within limit: Duration?) async {
        isStopping = true
        signal.raise()
        let running = Array(attempts.values)
        let timer = limit.map { limit in
            Task {
                try await Task.sleep(for: limit)
                for attempt in running { attempt.cancel() }
            }
        }
        for attempt in running { await attempt.value }
        timer?.cancel()
    }

    /// Ends the pauses of all lanes because a path came back, as far as the servers allow.
    func pathReturned() async {
        guard let now = try? await storage.time() else { return }
        for id in lanes.keys { lanes[id]?.state.pathReturned(at: now) }
        signal.raise()
    }

    /// Starts what may be started.
    ///
    /// - Returns: The time until the next turn; nil to wait for a signal.
    private func turn() async -> Duration? {
        do {
            let overview = try await storage.overview()
            if overview.needsTime { try await storage.storeTime() }
            merge(overview.lanes)
            // One that waits for a path is cancelled first.
            for id in overview.expired { attempts[id]?.cancel() }
            let expired = overview.expired.filter { !underway.contains($0) }
            if !expired.isEmpty { try await storage.expire(expired) }
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
    private func merge(_ stored: [StoredLane]) {
        for lane in stored {
            guard var known = lanes[lane.id] else {
                let state = LaneState(lane.options.rules, isPaused: lane.isPaused, pause: lane.pause)
                lanes[lane.id] = .init(stored: lane, state: state)
                continue
            }
            known.state.rules = lane.options.rules
            // A command has removed the pause.
            if lane.pause == nil, known.stored.pause != nil, known.pendingConclusions == 0 { known.state.resume() }
            known.state.isPaused = lane.isPaused
            known.stored = lane
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
        let supply = try await storage.supply(of: lane, count, besides: underway)
        for parcel in supply.parcels.prefix(count) where !isStopping {
            guard lanes[lane.id]?.state.allowance(at: now) ?? 0 > 0 else { break }
            guard parcel.items.allSatisfy({ !underway.contains($0.id) }) else { continue }
            await start(parcel, lane, now)
        }
        return supply.next
    }

    private func start(_ parcel: Parcel, _ lane: StoredLane, _ now: BoxTime) async {
        let damaged = parcel.items.filter { !$0.isIntact }
        for item in damaged {
            let reason = "the stored request is damaged: its digest differs"
            await conclude(
                .init(parcel: .init(item), step: .end(.damaged), record: item.record, reason: reason),
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
        let attempt = SendAttempt(
            parcel: parcel,
            lane: lane,
            storage: storage,
            session: session,
            credentials: credentials
        )
        attempts[parcel.items[0].id] = Task {
            let result = await attempt.run()
            await finish(parcel, lane.id, isProbe, result)
        }
    }

    private func finish(_ parcel: Parcel, _ lane: Int64, _ isProbe: Bool, _ result: SendAttempt.Result?) async {
        let verdict = result?.attempt.verdict ?? .interrupted(mayBeProcessed: false)
        var record = parcel.record
        let now = await currentTime()
        // Marked just before the attempt; the parcel is as it was before.
        let isFirst = record.firstSent == nil
        if isFirst, result != nil { record.firstSent = now }
        lanes[lane]?.state.ended(verdict, isProbe: isProbe, at: now, using: &generator)
        if let result, let rules = lanes[lane]?.state.rules {
            let step = record.apply(verdict, isFirst: isFirst, rules, at: now)
            var conclusion = BoxStorage.Conclusion(parcel: parcel, step: step, record: record, reason: result.reason)
            if case .end(let end) = step, end == .uncertain { conclusion.reason += "; it has no key, or no longer" }
            conclusion.response = result.response
            conclusion.split = result.response.flatMap { BatchRules.split(parcel.items.count, status: $0.status) }
            await conclude(conclusion, lane)
        } else {
            await retrying { try await self.storage.unmark(parcel) }
        }
        for item in parcel.items { underway.remove(item.id) }
        attempts[parcel.items[0].id] = nil
        if !isStopping { signal.raise() }
    }

    /// Stores the consequence of an attempt: until that succeeds, the items stay under way.
    private func conclude(_ conclusion: BoxStorage.Conclusion, _ lane: Int64) async {
        lanes[lane]?.pendingConclusions += 1
        var conclusion = conclusion
        conclusion.pause = lanes[lane]?.state.pause
        let stored = conclusion
        await retrying { try await self.storage.conclude(stored) }
        lanes[lane]?.stored.pause = stored.pause
        lanes[lane]?.pendingConclusions -= 1
    }

    private func currentTime() async -> BoxTime {
        var now = BoxTime(nanoseconds: 0)
        await retrying { now = try await self.storage.time() }
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
