import ReachabilityCore
import Testing

/// Replays what `scripts/kernel-lab` recorded, on a machine that has none of those radios and modems.
@Suite("Captures of the kernel lab")
struct KernelLabReplayTests {
    @Test("There are scenarios, and each has a capture and says what is expected")
    func everyScenarioIsRecorded() {
        #expect(KernelLabScenario.all.count > 10)
        for scenario in KernelLabScenario.all {
            #expect(!scenario.capture.isEmpty, "run scripts/kernel-lab --record \(scenario.name)")
            #expect(!scenario.expected.isEmpty, "run scripts/kernel-lab --bless \(scenario.name), and read the result")
        }
    }

    @Test("Each tells the changes that its scenario expects", arguments: KernelLabScenario.all)
    func replay(scenario: KernelLabScenario) throws {
        var teller = KernelLabTeller(expected: scenario.expected)
        var replay = CaptureReplay(
            context: .init(user: 0, kindRules: scenario.kindRules),
            settle: scenario.settle
        )
        while let changes = try replay.next(scenario.capture.span.bytes) {
            for change in changes { teller.tell(change.change) }
        }
        for change in replay.finish() { teller.tell(change.change) }
        #expect(teller.lines == scenario.expected)
    }

    @Test("Nothing is recorded that no scenario tells of")
    func noOtherCapture() {
        let names = KernelLabScenario.all.map { "\($0.name).pcap" }
        #expect(Fixture.names(in: "Fixtures/kernel-lab").sorted() == names.sorted())
    }
}
