import CommandLineLab
import NetworkLab
import Testing

/// The live view shows why the machine is offline, and the fix.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WhyOnScreenTests {
    @Test(
        arguments: [
            BrokenSetup.noCarrier, .noAddress, .noDefaultRoute, .unreachableOnTop, .deadPreferredLink, .sourceRule,
            .expiredAdvertisement,
        ],
        [(40, 12), (80, 24)]
    )
    func `the diagnosis and the fix are on the screen`(setup: BrokenSetup, size: (columns: Int, rows: Int)) throws {
        var isSeen = false
        while !isSeen {
            let machine = try BrokenMachine(setup)
            let screen = try TerminalScreen(BrokenSetup.kinds, columns: size.columns, rows: size.rows, in: machine.lab)
            let rows = try screen.wait(for: "why and fix") { rows in
                let text = Self.letters(rows.joined())
                isSeen = [setup.text, setup.fix].allSatisfy { text.contains(Self.letters($0)) }
                // On a very slow machine the kernel removes the expired route before it is examined.
                return isSeen || setup == .expiredAdvertisement && text.contains("thereisnodefaultroute")
            }
            #expect(rows[0].contains("not reachable"))
        }
    }

    /// The text without spaces: lines are broken at them, and long words anywhere.
    private static func letters(_ text: String) -> String { text.filter { $0 != " " } }
}
