import RequestGate
import Testing

/// Tests of open connections after a change of the network, with one case per row.
@Suite struct RunningTableTests {
    private static let lasting = PathLossPolicy.waitInFlight(.seconds(30))
    private static let brief = PathLossPolicy.waitInFlight(.milliseconds(20))

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasRoute: true, isAllowed: true), RunningTable.IdleVerdict.keep),
        (.init(hasAddress: true, hasRoute: false, isAllowed: true), .close),
        (.init(hasAddress: false, hasRoute: true, isAllowed: true), .close),
        (.init(hasAddress: true, hasRoute: true, isAllowed: false), .close),
    ])
    func `an idle connection follows the table`(path: ConnectionPath, verdict: RunningTable.IdleVerdict) {
        #expect(RunningTable.verdict(onIdle: path) == verdict)
    }

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasRoute: true, isAllowed: true), RunningTable.RunningVerdict.keep),
        (.init(hasAddress: true, hasRoute: false, isAllowed: true), .closeIfSilent(for: .seconds(5))),
        (.init(hasAddress: false, hasRoute: false, isAllowed: true), .closeUnlessRestored(within: .milliseconds(100))),
        (.init(hasAddress: false, hasRoute: true, isAllowed: true), .closeUnlessRestored(within: .milliseconds(100))),
        (.init(hasAddress: true, hasRoute: true, isAllowed: false), .notAllowed),
        (.init(hasAddress: false, hasRoute: false, isAllowed: false), .notAllowed),
    ])
    func `a connection in use that fails fast follows the table`(
        path: ConnectionPath,
        verdict: RunningTable.RunningVerdict
    ) {
        #expect(RunningTable.verdict(onRunning: path, .failFast) == verdict)
    }

    @Test(arguments: [
        (ConnectionPath(hasAddress: true, hasRoute: true, isAllowed: true), lasting, RunningTable.RunningVerdict.keep),
        (.init(hasAddress: true, hasRoute: false, isAllowed: true), lasting, .closeIfSilent(for: .seconds(30))),
        (
            .init(hasAddress: false, hasRoute: false, isAllowed: true), lasting,
            .closeUnlessRestored(within: .seconds(30))
        ),
        (
            .init(hasAddress: false, hasRoute: false, isAllowed: true), brief,
            .closeUnlessRestored(within: .milliseconds(100))
        ),
        (.init(hasAddress: true, hasRoute: false, isAllowed: true), brief, .closeIfSilent(for: .milliseconds(20))),
        (.init(hasAddress: true, hasRoute: true, isAllowed: false), lasting, .notAllowed),
    ])
    func `a connection in use that may wait follows the table`(
        path: ConnectionPath,
        policy: PathLossPolicy,
        verdict: RunningTable.RunningVerdict
    ) {
        #expect(RunningTable.verdict(onRunning: path, policy) == verdict)
    }
}
