import NetworkClientCore
import Testing

struct RequestLifeTests {
    /// A life on a connection, up to a point.
    private func life(isReused: Bool, isSent: Bool, hasAnswer: Bool = false) -> RequestLife {
        var life = RequestLife()
        #expect(life.start() == true)
        #expect(life.assigned(isReused: isReused) == true)
        if isSent { life.sent() }
        if hasAnswer { life.answered() }
        return life
    }

    @Test(arguments: [
        // Reused connection, sent, repeatable: what follows the loss of the connection.
        (true, true, true, RequestLife.Verdict.sendAgain),
        (true, true, false, .fail(.maybeProcessed)),
        (true, false, false, .sendAgain),
        (false, true, true, .fail(.maybeProcessed)),
        (false, false, true, .fail(.neverSent)),
    ])
    func `a lost connection`(isReused: Bool, isSent: Bool, isRepeatable: Bool, verdict: RequestLife.Verdict) {
        var life = life(isReused: isReused, isSent: isSent)
        #expect(life.failed(isLoss: true, isRepeatable: isRepeatable) == verdict)
    }

    @Test func `it goes again once only, and never forgets that it was sent`() {
        var life = life(isReused: true, isSent: true)
        #expect(life.failed(isLoss: true, isRepeatable: true) == .sendAgain)
        #expect(life.phase == .waiting)
        #expect(life.processing == .maybeProcessed)
        #expect(life.assigned(isReused: true) == true)
        life.sent()
        #expect(life.failed(isLoss: true, isRepeatable: true) == .fail(.maybeProcessed))
        #expect(life.attempts == 2)
    }

    @Test func `after the first byte of an answer it does not go again`() {
        var life = life(isReused: true, isSent: true, hasAnswer: true)
        #expect(life.failed(isLoss: true, isRepeatable: true) == .fail(.answered))
    }

    @Test func `what is only slow does not go again`() {
        var life = life(isReused: true, isSent: true)
        #expect(life.failed(isLoss: false, isRepeatable: true) == .fail(.maybeProcessed))
    }

    @Test func `it ends once`() {
        var life = life(isReused: false, isSent: true, hasAnswer: true)
        #expect(life.ended() == true)
        #expect(life.ended() == false)
        #expect(life.cancel() == false)
        #expect(life.failed(isLoss: true, isRepeatable: true) == .none)
        #expect(life.assigned(isReused: false) == false)
    }

    @Test func `what was cancelled while it waited takes no connection`() {
        var life = RequestLife()
        #expect(life.start() == true)
        #expect(life.start() == false)
        #expect(life.cancel() == true)
        #expect(life.assigned(isReused: false) == false)
        #expect(life.processing == .neverSent)
    }
}
