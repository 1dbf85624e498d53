import ReachabilityCore
import Testing

/// Replays the captures of `scripts/kernel-lab` on a machine without those radios and modems.
@Suite("Captures of the kernel lab")
struct KernelLabReplayTests {
    @Test("Every scenario has a capture and expected lines")
    func everyScenarioIsRecorded() {
        #expect(KernelLabScenario.all.count > 10)
        for scenario in KernelLabScenario.all {
            #expect(!scenario.capture.isEmpty, "run scripts/kernel-lab --record \(scenario.name)")
            #expect(!scenario.expected.isEmpty, "run scripts/kernel-lab --bless \(scenario.name), and read the result")
        }
    }

    @Test("A capture replays to the changes that its scenario expects", arguments: KernelLabScenario.all)
    func replay(scenario: KernelLabScenario) throws {
        var writer = KernelLabWriter(expected: scenario.expected)
        var replay = CaptureReplay(
            context: .init(user: 0, kindRules: scenario.kindRules),
            settle: scenario.settle
        )
        while let changes = try replay.next(scenario.capture.span.bytes) {
            for change in changes { writer.write(change.change) }
        }
        for change in replay.finish() { writer.write(change.change) }
        #expect(writer.lines == scenario.expected)
    }

    @Test("Every capture belongs to a scenario")
    func noOtherCapture() {
        let names = KernelLabScenario.all.map { "\($0.name).pcap" }
        #expect(Fixture.names(in: "Fixtures/kernel-lab").sorted() == names.sorted())
    }
}
