import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct StyleTests {
    @Test func `a state has a role, a mark and a word`() {
        for (story, role, text) in [
            (Story.wifi(), Style.Role.ok, "● wifi"), (.cellular(), .warning, "▲ cellular"),
            (.notReachable(), .bad, "✗ not reachable"), (Story(), .unknown, "? unknown"),
        ] {
            let first = story.view.frame(size).lines[0].runs[0]
            #expect(first.text == text && first.style == .init(role, isBold: true))
        }
    }

    @Test func `without colour, each state has a distinct mark and cell`() {
        for story in [Story.cellular(), .notReachable()] {
            var states: [String: Set<Style.Role>] = [:]
            for run in story.view.frame(size).lines.flatMap(\.runs) where run.style.role != .graph {
                for mark in run.text where "█▄✗░●▲○".contains(mark) {
                    states[String(mark), default: []].insert(run.style.role)
                }
            }
            // A mark never means two things.
            #expect(states.values.allSatisfy { $0.count == 1 } && states.count > 3, "\(states)")
        }
    }

    @Test func `the fix stands out`() throws {
        let lines = Story.notReachable().view.frame(size).lines
        let fix = try #require(lines.first { $0.text.contains("Fix: ") })
        #expect(fix.runs.last?.style.isBold == true)
        #expect(lines[1].runs.last?.style.role == .bad)
    }

    @Test func `no line ends with spaces, and adjacent pieces differ in style`() {
        var story = Story.restless()
        story.press(.escape)
        for line in story.view.frame(size).lines {
            #expect(!line.text.hasSuffix(" "))
            for (one, next) in zip(line.runs, line.runs.dropFirst()) { #expect(one.style != next.style) }
        }
    }

    private let size = ScreenSize(columns: 100, rows: 30)
}
