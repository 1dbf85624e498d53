import RequestGate
import Testing

/// Tests of open connections after a change of the network, with one case per row.
@Suite struct RunningTableTests {
    private static let lasting = PathLossPolicy.waitInFlight(.seconds(30))
    private static let brief = PathLossPolicy.waitInFlight(.milliseconds(20))

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasWay: true, isAllowed: true), RunningTable.IdleVerdict.keep),
        (.init(hasAddress: true, hasWay: false, isAllowed: true), .close),
        (.init(hasAddress: false, hasWay: true, isAllowed: true), .close),
        (.init(hasAddress: true, hasWay: true, isAllowed: false), .close),
    ])
    func `an idle connection`(path: ConnectionPath, verdict: RunningTable.IdleVerdict) {
        #expect(RunningTable.verdict(onIdle: path) == verdict)
    }

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasWay: true, isAllowed: true), RunningTable.RunningVerdict.keep),
        (.init(hasAddress: true, hasWay: false, isAllowed: true), .lostIfSilent(for: .seconds(5))),
        (.init(hasAddress: false, hasWay: false, isAllowed: true), .lostUnlessBack(within: .milliseconds(100))),
        (.init(hasAddress: false, hasWay: true, isAllowed: true), .lostUnlessBack(within: .milliseconds(100))),
        (.init(hasAddress: true, hasWay: true, isAllowed: false), .notAllowed),
        (.init(hasAddress: false, hasWay: false, isAllowed: false), .notAllowed),
    ])
    func `one in use that is to fail fast`(path: ConnectionPath, verdict: RunningTable.RunningVerdict) {
        #expect(RunningTable.verdict(onRunning: path, .failFast) == verdict)
    }

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasWay: true, isAllowed: true), lasting, RunningTable.RunningVerdict.keep),
        (.init(hasAddress: true, hasWay: false, isAllowed: true), lasting, .lostIfSilent(for: .seconds(30))),
        (.init(hasAddress: false, hasWay: false, isAllowed: true), lasting, .lostUnlessBack(within: .seconds(30))),
        (.init(hasAddress: false, hasWay: false, isAllowed: true), brief, .lostUnlessBack(within: .milliseconds(100))),
        (.init(hasAddress: true, hasWay: false, isAllowed: true), brief, .lostIfSilent(for: .milliseconds(20))),
        (.init(hasAddress: true, hasWay: true, isAllowed: false), lasting, .notAllowed),
    ])
    func `one in use that may wait`(
        path: ConnectionPath,
        policy: PathLossPolicy,
        verdict: RunningTable.RunningVerdict
    ) {
        #expect(RunningTable.verdict(onRunning: path, policy) == verdict)
    }
}
