import OutboxCore
import Testing

/// The table of failures: which end an item, and which pause its lane.
@Suite struct FailureAttributionTests {
    private func verdict(_ status: Int, confirmed: Bool = true, retryAfter: Duration? = nil) -> Verdict {
        AttemptResult.response(status: status, retryAfter: retryAfter, isConfirmed: confirmed).verdict
    }

    @Test(arguments: [200, 201, 202, 204, 299])
    func `a confirmed 2xx delivers`(status: Int) {
        #expect(verdict(status) == .delivered)
    }

    @Test(arguments: [400, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 422, 428, 431])
    func `a status about the item costs it an attempt`(status: Int) {
        #expect(verdict(status) == .itemFailed(mayBeProcessed: false))
    }

    @Test func `409 is a conflict, perhaps with an earlier attempt of the item`() {
        #expect(verdict(409) == .conflict)
        #expect(verdict(409, confirmed: false) == .destinationFailed(retryAfter: nil, mayBeProcessed: false))
    }

    @Test(arguments: [302, 401, 402, 403, 407, 408, 421, 423, 425, 429, 451, 503])
    func `a status about the destination pauses the lane, and the item was not processed`(status: Int) {
        #expect(verdict(status) == .destinationFailed(retryAfter: nil, mayBeProcessed: false))
    }

    @Test(arguments: [500, 501, 502, 504, 599])
    func `after another 5xx the item may have been processed`(status: Int) {
        #expect(verdict(status) == .destinationFailed(retryAfter: nil, mayBeProcessed: true))
    }

    @Test func `Retry-After is passed on`() {
        let expected = Verdict.destinationFailed(retryAfter: .seconds(7), mayBeProcessed: false)
        #expect(verdict(429, retryAfter: .seconds(7)) == expected)
    }

    @Test(arguments: [200, 404])
    func `the response of a captive portal neither delivers nor ends an item`(status: Int) {
        #expect(verdict(status, confirmed: false) == .destinationFailed(retryAfter: nil, mayBeProcessed: false))
        // Its delay is not the server's.
        let verdict = verdict(503, confirmed: false, retryAfter: .seconds(86_400))
        #expect(verdict == .destinationFailed(retryAfter: nil, mayBeProcessed: false))
    }

    @Test func `a failure without a response is attributed to its scope`() {
        #expect(AttemptResult.failure(.item, mayBeProcessed: true).verdict == .itemFailed(mayBeProcessed: true))
        #expect(AttemptResult.failure(.interrupted, mayBeProcessed: true).verdict == .interrupted(mayBeProcessed: true))
        let lost = AttemptResult.failure(.destination, mayBeProcessed: true).verdict
        #expect(lost == .destinationFailed(retryAfter: nil, mayBeProcessed: true))
    }

    // MARK: The item

    private func item(key: Bool = false, idempotent: Bool = false, sent: BoxTime? = nil) -> ItemRecord {
        var item = ItemRecord()
        (item.hasKey, item.isIdempotent, item.firstSent) = (key, idempotent, sent)
        return item
    }

    private let start = BoxTime(nanoseconds: 0)

    @Test func `a request without a key that may have been processed is uncertain`() {
        let lost = Verdict.destinationFailed(retryAfter: nil, mayBeProcessed: true)
        var plain = item(sent: start)
        #expect(plain.apply(lost, isFirst: true, .init(), at: start) == .end(.uncertain))
        var keyed = item(key: true, sent: start)
        #expect(keyed.apply(lost, isFirst: true, .init(), at: start) == .wait(until: nil))
        var put = item(idempotent: true, sent: start)
        #expect(put.apply(lost, isFirst: true, .init(), at: start) == .wait(until: nil))
        var repeatable = LaneRules()
        repeatable.isRepeatable = true
        plain.firstSent = start
        #expect(plain.apply(lost, isFirst: true, repeatable, at: start) == .wait(until: nil))
    }

    @Test func `an attempt without effect removes its own mark, and no earlier one`() {
        let refused = Verdict.destinationFailed(retryAfter: nil, mayBeProcessed: false)
        var first = item(sent: start)
        #expect(first.apply(refused, isFirst: true, .init(), at: start) == .wait(until: nil))
        #expect(first.firstSent == nil)
        var second = item(key: true, sent: start)
        #expect(second.apply(refused, isFirst: false, .init(), at: start) == .wait(until: nil))
        #expect(second.firstSent == start)
    }

    @Test func `a rejection removes the mark of its own attempt, and no earlier one`() {
        let rejected = Verdict.itemFailed(mayBeProcessed: false)
        var rules = LaneRules()
        rules.itemAttempts = 2
        var first = item(sent: start)
        #expect(
            first.apply(rejected, isFirst: true, rules, at: start) == .wait(until: start.advanced(by: .seconds(30)))
        )
        #expect(first.firstSent == nil && first.stepBeforeAttempt(rules, at: start) == .send)
        var second = item(key: true, sent: start)
        _ = second.apply(rejected, isFirst: false, rules, at: start)
        #expect(second.firstSent == start)
        var lost = item(sent: start)
        _ = lost.apply(.itemFailed(mayBeProcessed: true), isFirst: true, rules, at: start)
        #expect(lost.firstSent == start)
    }

    @Test func `a conflict with an earlier attempt of the item delays it, up to six times`() {
        var sent = item(key: true, sent: start)
        for delay in [30, 60, 120, 240, 480] {
            let due = start.advanced(by: .seconds(delay))
            #expect(sent.apply(.conflict, isFirst: false, .init(), at: start) == .wait(until: due))
        }
        #expect(sent.firstSent == start)
        #expect(sent.apply(.conflict, isFirst: false, .init(), at: start) == .end(.uncertain))
    }

    @Test func `a conflict refuses an item that was not sent before, or has no key`() {
        var first = item(key: true, sent: start)
        #expect(first.apply(.conflict, isFirst: true, .init(), at: start) == .end(.refused))
        var put = item(idempotent: true, sent: start)
        #expect(put.apply(.conflict, isFirst: false, .init(), at: start) == .end(.refused))
    }

    @Test func `after the lifetime of its key an item is uncertain, unless the lane may repeat it`() {
        let sent = item(key: true, sent: start)
        let (before, after) = (start.advanced(by: .seconds(86_399)), start.advanced(by: .seconds(86_400)))
        #expect(sent.stepBeforeAttempt(.init(), at: before) == .send)
        #expect(sent.stepBeforeAttempt(.init(), at: after) == .end(.uncertain))
        var repeatable = LaneRules()
        repeatable.isRepeatable = true
        #expect(sent.stepBeforeAttempt(repeatable, at: after) == .send)
        #expect(item(key: true).stepBeforeAttempt(.init(), at: after) == .send)
    }

    @Test func `an item expires at the end of its lifetime`() {
        var short = item(key: true)
        short.expires = start.advanced(by: .seconds(10))
        #expect(short.stepBeforeAttempt(.init(), at: start.advanced(by: .seconds(9))) == .send)
        #expect(short.stepBeforeAttempt(.init(), at: start.advanced(by: .seconds(10))) == .end(.expired))
    }

    @Test func `only its own failures cost an item attempts`() {
        var rules = LaneRules()
        rules.itemAttempts = 2
        var faulty = item(key: true)
        for _ in 0..<100 {
            _ = faulty.apply(
                .destinationFailed(retryAfter: nil, mayBeProcessed: true),
                isFirst: false,
                rules,
                at: start
            )
        }
        #expect(faulty.attempts == 0)
        let later = start.advanced(by: .seconds(30))
        let rejected = Verdict.itemFailed(mayBeProcessed: false)
        #expect(faulty.apply(rejected, isFirst: false, rules, at: start) == .wait(until: later))
        #expect(faulty.apply(rejected, isFirst: false, rules, at: start) == .end(.refused))
    }
}
