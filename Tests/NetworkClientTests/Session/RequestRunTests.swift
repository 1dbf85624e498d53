import NIOCore
import Testing

@testable import NetworkClient

/// The one state of a request.
struct RequestRunTests {
    @Test func `a request whose attempt has ended can be retried, and is not finished`() {
        var run = RequestRun(start: .now())
        run.enter(.queued)
        #expect(run.isActive && run.canBegin)
        run.enter(.attemptEnded)
        #expect(!run.isActive && !run.isFinished && !run.canBegin)
        run.retry(wasProcessed: false)
        #expect(run.isQueued)
    }

    @Test func `a finished request is not active, and not started on a connection`() {
        var run = RequestRun(start: .now())
        run.enter(.queued)
        run.enter(.finished)
        #expect(run.isFinished && !run.isActive && !run.canBegin)
    }

    @Test func `finished is final`() async {
        await #expect(processExitsWith: .failure) {
            var run = RequestRun(start: .now())
            run.enter(.finished)
            run.enter(.queued)
        }
    }

    @Test func `a pause is seen in every state but changes none`() {
        var run = RequestRun(start: .now())
        #expect(run.publicState == .ready)
        run.enter(.queued)
        #expect(run.publicState == .waiting)
        run.setPaused(true)
        #expect(run.publicState == .paused && run.isQueued)
        run.setPaused(false)
        run.enter(.attemptEnded)
        #expect(run.publicState == .running)
    }
}
