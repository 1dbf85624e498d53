/// The rules of a lane.
package struct LaneRules: Sendable, Hashable {
    /// The order of its items.
    package var order = LaneOrder.unordered(width: 8)
    /// The number of attempts that failures of the item itself may cost, before it is refused.
    package var itemAttempts = 1
    /// The time after the first attempt that may have been processed for which the server recognizes a key.
    package var keyLifetime = Duration.seconds(86_400)
    /// Whether an item may be resent although the server may have processed it and can't recognize it.
    package var isRepeatable = false

    package init() {}
}

/// The part of an item that decides what follows an attempt.
package struct ItemRecord: Sendable, Hashable {
    /// The number of attempts that failures of the item itself have cost.
    package var attempts = 0
    /// Whether repeating it has no further effect (RFC 9110, 9.2.2): GET, HEAD, OPTIONS, PUT, DELETE.
    package var isIdempotent = false
    /// Whether it has a key by which the server recognizes it.
    package var hasKey = false
    /// The time before the first byte of the first attempt that may have been processed.
    package var firstSent: BoxTime?
    /// The end of its lifetime; nil for none.
    package var expires: BoxTime?

    package init() {}
}

/// A step of an item.
package enum ItemStep: Sendable, Hashable {
    /// It may be sent now.
    case send
    /// It waits, at least until a time.
    case wait(until: BoxTime?)
    /// It ends.
    case end(ItemEnd)
}

extension ItemRecord {
    /// Returns what happens to an item before an attempt.
    package func stepBeforeAttempt(_ rules: LaneRules, at now: BoxTime) -> ItemStep {
        if firstSent != nil, !mayBeRepeated(rules, at: now) { return .end(.uncertain) }
        if let expires, expires <= now { return .end(firstSent == nil || isIdempotent ? .expired : .uncertain) }
        return .send
    }

    /// Applies the consequence of an attempt.
    ///
    /// - Parameters:
    ///   - verdict: The consequence.
    ///   - isFirst: Whether no earlier attempt may have been processed: ``firstSent`` was set for this one.
    ///   - rules: The lane's rules.
    ///   - now: The current time.
    /// - Returns: What happens to the item.
    package mutating func apply(
        _ verdict: Verdict,
        isFirst: Bool,
        _ rules: LaneRules,
        at now: BoxTime
    ) -> ItemStep {
        if isFirst, !verdict.mayBeProcessed { firstSent = nil }
        switch verdict {
        case .delivered: return .end(.delivered)
        case .itemFailed: return failed(maximumAttempts: rules.itemAttempts, at: now)
        case .conflict:
            guard hasKey, firstSent != nil else { return failed(maximumAttempts: rules.itemAttempts, at: now) }
            let step = failed(maximumAttempts: max(rules.itemAttempts, Self.conflictAttempts), at: now)
            // The earlier attempt may have been processed.
            return step == .end(.refused) ? .end(.uncertain) : step
        case .destinationFailed, .interrupted:
            return firstSent == nil || mayBeRepeated(rules, at: now) ? .wait(until: nil) : .end(.uncertain)
        }
    }

    /// The minimum number of attempts of an item whose earlier attempt may still be in progress at the server: they take a
    /// quarter of an hour.
    private static let conflictAttempts = 6

    private mutating func failed(maximumAttempts: Int, at now: BoxTime) -> ItemStep {
        attempts += 1
        guard attempts < maximumAttempts else { return .end(.refused) }
        return .wait(until: now.advanced(by: min(LanePause.minimum * (1 << min(attempts - 1, 20)), LanePause.maximum)))
    }

    private func mayBeRepeated(_ rules: LaneRules, at now: BoxTime) -> Bool {
        if isIdempotent || rules.isRepeatable { return true }
        guard hasKey else { return false }
        return firstSent.map { now < $0.advanced(by: rules.keyLifetime) } ?? true
    }
}

/// The state of a lane: what it may send, and its pause.
package struct LaneState: Sendable, Hashable {
    /// The rules.
    package var rules: LaneRules
    /// Whether the user has paused the lane.
    package var isPaused: Bool
    /// The pause after a failure of the destination.
    package private(set) var pause: LanePause?
    /// The number of items that are being sent.
    package private(set) var underway = 0
    /// Whether a path has come back since the first of these was started: their failures say nothing about that path.
    private var hasPathReturned = false

    package init(_ rules: LaneRules, isPaused: Bool = false, pause: LanePause? = nil) {
        self.rules = rules
        self.isPaused = isPaused
        self.pause = pause
    }

    /// Returns the number of further items that may be sent now.
    ///
    /// After a pause, one item is sent as a probe; the others wait for its result.
    package func allowance(at now: BoxTime) -> Int {
        if isPaused { return 0 }
        guard let pause else { return max(rules.order.width - underway, 0) }
        return pause.until <= now && underway == 0 ? 1 : 0
    }

    /// Notes that an item is being sent.
    ///
    /// - Returns: Whether it is a probe.
    package mutating func started() -> Bool {
        underway += 1
        return pause != nil
    }

    /// Notes the result of an item.
    ///
    /// - Parameters:
    ///   - verdict: The consequence of its attempt.
    ///   - isProbe: What ``started()`` returned.
    ///   - now: The current time.
    ///   - generator: The source of the jitter.
    package mutating func ended(
        _ verdict: Verdict,
        isProbe: Bool,
        at now: BoxTime,
        using generator: inout some RandomNumberGenerator
    ) {
        underway -= 1
        defer { if underway == 0 { hasPathReturned = false } }
        switch verdict {
        case .delivered, .itemFailed, .conflict:
            // A response that was under way when another failed says nothing about the present.
            if isProbe { pause = nil }
        case .destinationFailed(let retryAfter, _):
            if pause == nil || isProbe {
                pause = .init(after: pause, retryAfter, at: now, using: &generator)
                if hasPathReturned { pause?.pathReturned(at: now) }
            } else if let retryAfter {
                pause?.extend(by: retryAfter, at: now)
            }
        case .interrupted: break
        }
    }

    /// Ends the pause early because a path came back, also one that begins with the failure of what is being sent.
    package mutating func pathReturned(at now: BoxTime) {
        hasPathReturned = underway > 0
        pause?.pathReturned(at: now)
    }

    /// Ends the pause by the user's command.
    package mutating func resume() {
        isPaused = false
        pause = nil
    }

    /// The time at which the lane may send without another event; nil if it may now, or if only an event changes that.
    package var wakeTime: BoxTime? { isPaused || underway > 0 ? nil : pause?.until }
}
