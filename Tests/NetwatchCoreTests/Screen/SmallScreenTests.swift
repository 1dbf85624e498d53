import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct SmallScreenTests {
    @Test(arguments: [
        (1, 1, ["✗"]), (2, 1, ["✗"]), (6, 2, ["✗ not…", "  wla…"]),
        (
            20, 3,
            [
                "✗ not reachable  si…", "  wlan0 has no carr…", "  Fix: Check the ac…",
            ]
        ), (0, 5, []), (5, 0, []),
    ])
    func `a screen that is too small shows the state, then the reason`(columns: Int, rows: Int, lines: [String]) {
        let frame = Story.notReachable().view.frame(.init(columns: columns, rows: rows))
        #expect(frame.lines.map(\.text) == lines)
    }

    @Test(arguments: 8...60) func `from eight rows on, all parts are shown`(rows: Int) {
        for story in [Story.notReachable(), .destinations(), .manyInterfaces(), .restless()] {
            let frame = story.view.frame(.init(columns: 80, rows: rows))
            let text = frame.lines.map(\.text).joined(separator: "\n")
            #expect(frame.lines.count == rows)
            for part in ["LINKS", "LOG", "q quit"] { #expect(text.contains(part), "\(rows) rows:\n\(text)") }
        }
    }
}
