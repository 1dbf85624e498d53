import NetworkClientCore
import Testing

struct AttemptHistoryTests {
    /// Returns the history of a request on a connection up to a stage.
    private func history(isReused: Bool, isSent: Bool, hasResponse: Bool = false) -> AttemptHistory {
        var history = AttemptHistory()
        history.begin(isReused: isReused)
        if isSent { history.sent() }
        if hasResponse { history.responseBegan() }
        return history
    }

    @Test(arguments: [
        // For a sent, repeatable request on a reused connection: whether it is resent, and the stage that it reached.
        (true, true, true, true, Processing.maybeProcessed),
        (true, true, false, false, .maybeProcessed),
        (true, false, false, true, .neverSent),
        (false, true, true, false, .maybeProcessed),
        (false, false, true, false, .neverSent),
    ])
    func `a request on a lost connection is resent if that is safe`(
        isReused: Bool,
        isSent: Bool,
        isRepeatable: Bool,
        resends: Bool,
        processing: Processing
    ) {
        var history = history(isReused: isReused, isSent: isSent)
        #expect(history.resends(isRepeatable: isRepeatable) == resends)
        #expect(history.processing == processing)
    }

    @Test func `a request is resent only once, and counts as possibly processed`() {
        var history = history(isReused: true, isSent: true)
        #expect(history.resends(isRepeatable: true) == true)
        #expect(history.processing == .maybeProcessed)
        history.begin(isReused: true)
        history.sent()
        #expect(history.resends(isRepeatable: true) == false)
        #expect(history.processing == .maybeProcessed)
        #expect(history.count == 2)
    }

    @Test func `a request is not resent after the first byte of a response`() {
        var history = history(isReused: true, isSent: true, hasResponse: true)
        #expect(history.resends(isRepeatable: true) == false)
        #expect(history.processing == .answered)
    }

    @Test func `a retry resets the response, but not that the request may have been processed`() {
        var history = history(isReused: true, isSent: true, hasResponse: true)
        history.retry(wasProcessed: true)
        #expect(history.processing == .maybeProcessed)
        history.begin(isReused: true)
        #expect(history.resends(isRepeatable: false) == true)
    }

    @Test func `an interrupted attempt may have been processed if it was sent`() {
        var sent = history(isReused: false, isSent: true)
        sent.interrupt()
        #expect(sent.processing == .maybeProcessed)
        var unsent = history(isReused: false, isSent: false)
        unsent.interrupt()
        #expect(unsent.processing == .neverSent)
    }

    @Test func `a request that was not processed is resent whatever its method, but not forever`() {
        var history = AttemptHistory()
        for _ in 0..<16 {
            history.begin(isReused: false)
            history.sent()
            #expect(history.resendsUnprocessed() == true)
            #expect(history.processing == .neverSent)
        }
        history.begin(isReused: false)
        history.sent()
        #expect(history.resendsUnprocessed() == false)
        #expect(history.count == 17)
    }
}
