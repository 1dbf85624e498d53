import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct LiveViewTimeTests {
    @Test func `the age is updated less often the longer it is`() {
        var story = Story.wifi()
        story.publish(.initial)
        for (wait, age) in [(0, "3 min"), (300, "8 min"), (3600, "1 h"), (3 * 86_400, "3 d")] {
            story.tick(after: .seconds(wait))
            #expect(title(story).contains(", \(age)"), "\(title(story))")
        }
    }

    @Test func `a change of the clock changes neither ages nor availability`() {
        var story = Story.notReachable()
        let before = story.view.frame(size).lines
        for hours in [-30, 48] {
            story.setClock(back: .seconds(hours * 3600))
            story.tick(after: .zero)
            let after = story.view.frame(size).lines
            #expect(after[0].text.contains(", 42 s"))
            #expect(figures(after) == figures(before))
        }
    }

    @Test func `setting the clock back before midnight postpones the change of day`() throws {
        var story = Story.wifi()
        story.tick(after: .seconds(10 * 3600 - 210))
        let midnight = try #require(story.view.nextChange)
        let rest = story.moment.instant.duration(to: midnight)
        #expect(rest < .seconds(60))
        let before = story.view.revision
        story.wait(rest)
        story.setClock(back: .seconds(3600))
        story.input(.tick(story.moment))
        #expect(story.view.revision > before && story.view.nextChange.map { $0 > midnight } == true)
    }

    @Test func `the time of a suspension is unknown, and the age includes it`() {
        var story = Story.wifi()
        story.wait(.zero, suspended: .seconds(1800))
        story.input(.tick(story.moment))
        let lines = story.view.frame(size).lines
        #expect(figures(lines) == "LAST HOUR (33 min)  100 % available · no outage · 30 min unknown")
        #expect(lines.map(\.text).contains { $0.contains("█████░░░░") })
        #expect(title(story).contains(", 33 min"))
    }

    @Test func `a difference between two clock readings is no suspension`() {
        var story = Story.wifi()
        story.wait(.zero, suspended: .microseconds(30))
        story.input(.tick(story.moment))
        story.wait(.zero, suspended: .microseconds(-20))
        story.input(.tick(story.moment))
        #expect(figures(story.view.frame(size).lines) == "LAST HOUR (3 min)  100 % available · no outage")
    }

    @Test func `an outage counts immediately, and its age each second of the first minute`() {
        var story = Story.wifi()
        story.loseWiFi()
        #expect(figures(story).hasSuffix("1 outage · going on for 0 s"))
        story.tick(after: .milliseconds(1500))
        #expect(figures(story).hasSuffix("1 outage · going on for 1 s") && title(story).contains(", 1 s"))
        story.tick(after: .seconds(118))
        #expect(figures(story).hasSuffix("1 outage · going on for 1 min") && title(story).contains(", 1 min"))
    }

    @Test func `an outage leaves the last hour, and stays in the sum since the start`() {
        var story = Story.cellular()
        story.tick(after: .seconds(3590))
        #expect(figures(story) == "LAST HOUR  98.33 % available · 1 outage, 1 min · last ended 59 min ago")
        #expect(text(story).contains("ALL 1 h  98.39 % available · 1 outage, 1 min 1 s"))
        story.tick(after: .seconds(60))
        #expect(figures(story) == "LAST HOUR  100 % available · no outage")
        #expect(text(story).contains("ALL 1 h  98.42 % available · 1 outage, 1 min 1 s · last ended 1 h ago"))
    }

    @Test func `events of other days have their date from midnight on`() throws {
        var story = Story.wifi()
        story.tick(after: .seconds(10 * 3600 - 215))
        let rest = story.moment.instant.duration(to: try #require(story.view.nextChange))
        story.tick(after: rest - .nanoseconds(1))
        #expect(text(story).contains("14:00:04.163  ● wifi"))
        story.tick(after: .nanoseconds(1))
        #expect(text(story).contains("20 Nov 14:00  ● wifi") && title(story).contains("since 20 Nov 14:00, 9 h"))
    }

    private let size = ScreenSize(columns: 100, rows: 24)

    private func title(_ story: Story) -> String { story.view.frame(size).lines[0].text }

    private func text(_ story: Story) -> String { story.view.frame(size).lines.map(\.text).joined(separator: "\n") }

    private func figures(_ story: Story) -> String { figures(story.view.frame(size).lines) }

    private func figures(_ lines: [StyledLine]) -> String {
        lines.map(\.text).first { $0.hasPrefix("LAST HOUR") } ?? ""
    }
}
