import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct ValidationOnScreenTests {
    private static func report(
        _ verdict: ValidationVerdict,
        _ story: Story,
        name: String = "wlan0"
    ) -> ValidationSummary {
        var path = ValidationPath(story.path)
        path?.name = name
        return .init(verdict: verdict, since: story.moment.time, path: path)
    }

    private func header(_ story: Story, columns: Int = 100) -> [String] {
        Array(story.view.frame(.init(columns: columns, rows: 24)).lines.map(\.text).prefix(6))
    }

    @Test func `a portal is in the first lines, with its page and the fix`() {
        var story = Story.wifi()
        let before = header(story)
        story.input(.validation(Self.report(.portal(.init(loginURL: "https://hotel.example/login")), story)))
        let lines = header(story)
        #expect(lines[0].contains("portal"))
        #expect(lines.contains { $0.contains("wifi, but a portal asks for a login at https://hotel.example/login") })
        #expect(lines.contains { $0.contains("Fix: log in there with a browser") })
        story.input(.validation(Self.report(.validated, story)))
        #expect(header(story)[0].contains("validated"))
        #expect(!header(story).joined().contains("hotel"))
        story.input(.validation(nil))
        #expect(header(story) == before)
    }

    @Test func `a report about another path is not shown`() {
        var story = Story.wifi()
        let before = header(story)
        story.input(.validation(Self.report(.portal(.init()), story, name: "eth0")))
        #expect(header(story) == before)
    }

    @Test(arguments: [10, 30, 80])
    func `a portal's URL fits into the screen, and is harmless`(columns: Int) {
        var story = Story.wifi()
        let url = "https://hotel.example/\u{1B}[31m" + String(repeating: "é", count: 400)
        story.input(.validation(Self.report(.portal(.init(loginURL: url)), story)))
        for line in header(story, columns: columns) {
            #expect(line.count <= columns && !line.unicodeScalars.contains("\u{1B}"))
        }
    }
}
