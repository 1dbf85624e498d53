import NetworkLab
import Testing

/// The live view alone shows a new user why the machine is offline, and what to do.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WhyOnScreenTests {
    @Test(
        arguments: [
            BrokenSetup.noCarrier, .noAddress, .noDefaultRoute, .unreachableOnTop, .deadPreferredLink, .sourceRule,
            .expiredAdvertisement,
        ],
        [(40, 12), (80, 24)]
    )
    func `the sentence and the fix are to be read`(setup: BrokenSetup, size: (columns: Int, rows: Int)) throws {
        var isSeen = false
        while !isSeen {
            let machine = try BrokenMachine(setup)
            let screen = try TerminalScreen(BrokenSetup.kinds, columns: size.columns, rows: size.rows, in: machine.lab)
            let rows = try screen.wait(for: "why and fix") { rows in
                let text = Self.letters(rows.joined())
                isSeen = [setup.text, setup.fix].allSatisfy { text.contains(Self.letters($0)) }
                // On a machine as slow as that, the kernel has removed the expired route before it was looked at.
                return isSeen || setup == .expiredAdvertisement && text.contains("thereisnodefaultroute")
            }
            #expect(rows[0].contains("not reachable"))
        }
    }

    /// The text without spaces: lines are broken at them, and long words anywhere.
    private static func letters(_ text: String) -> String { text.filter { $0 != " " } }
}
