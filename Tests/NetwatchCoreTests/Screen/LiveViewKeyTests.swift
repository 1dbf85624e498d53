import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct LiveViewKeyTests {
    @Test(arguments: [
        (Key.character("q"), LiveViewAction.quit), (.control("c"), .quit), (.control("z"), .suspend),
        (.control("l"), .redraw), (.character("e"), .explain), (.character("r"), .startRecording),
    ])
    func `keys request actions of the shell`(key: Key, action: LiveViewAction) {
        var story = Story.wifi()
        #expect(story.input(.key(key)) == action)
    }

    @Test func `r ends the current recording`() {
        var story = Story.wifi()
        story.input(.recording(.on(path: "a.pcap", bytes: 1), at: story.moment))
        #expect(story.input(.key(.character("r"))) == .stopRecording)
        story.input(.recording(.failed("no space left"), at: story.moment))
        #expect(lastLine(story).contains("cannot record: no space left"))
        #expect(story.input(.key(.character("r"))) == .startRecording)
        #expect(!lastLine(story).contains("cannot record"))
    }

    @Test func `an overlay is closed before the view`() {
        for open in [Key.character("?"), .enter] {
            var story = Story.wifi()
            story.press(open)
            #expect(lastLine(story).hasPrefix("esc close"))
            #expect(story.input(.key(.character("q"))) == nil)
            #expect(lastLine(story).hasPrefix("q quit"))
            #expect(story.input(.key(.character("q"))) == .quit)
        }
    }

    @Test func `keys are letters while a filter is typed`() {
        var story = Story.wifi()
        story.type("/qer?")
        #expect(lastLine(story).hasPrefix("/qer? "))
        #expect(story.view.frame(size).cursor == .init(row: 23, column: 5))
        story.press(.backspace, .backspace)
        #expect(lastLine(story).hasPrefix("/qe "))
        #expect(story.input(.key(.control("c"))) == .quit)
        story.press(.control("u"))
        #expect(story.view.frame(size).cursor == .init(row: 23, column: 1))
        story.press(.backspace)
        #expect(lastLine(story).hasPrefix("q quit") && story.view.frame(size).cursor == nil)
    }

    @Test func `a filter is kept by enter and dropped by escape`() {
        var story = Story.restless()
        story.type("/NOT ReachAble")
        story.press(.enter)
        #expect(text(story).contains("LOG  20 of 42 events"))
        story.press(.escape)
        #expect(text(story).contains("LOG  42 events"))
        story.type("/nothing like it")
        #expect(text(story).contains("LOG  0 of 42 events"))
        story.press(.enter, .enter, .down, .end, .pageDown)
        #expect(lastLine(story).hasPrefix("q quit"))
        story.type("/")
        story.press(.escape)
        #expect(text(story).contains("LOG  42 events"))
    }

    @Test func `the selection moves, and the screen follows it`() {
        var story = Story.restless()
        story.press(.down)
        #expect(chosen(story)?.contains("14:29:50.963") == true)
        story.press(.down, .down, .up)
        #expect(chosen(story)?.contains("14:29:31.623") == true)
        story.press(.end)
        #expect(chosen(story)?.contains("14:00:00.123") == true)
        story.press(.home)
        #expect(chosen(story)?.contains("14:29:50.963") == true && text(story).contains("LOG  42 events"))
        story.press(.escape)
        #expect(chosen(story) == nil)
    }

    @Test func `a scrolled log stays in place when new events arrive`() {
        var story = Story.restless()
        story.input(.wheel(up: false, row: 20))
        let before = logLines(story)
        story.wait(.seconds(5))
        story.publish(.tunnelChanged)
        #expect(logLines(story) == before)
        #expect(text(story).contains("LOG  5–"))
        story.input(.wheel(up: true, row: 20))
        story.input(.wheel(up: true, row: 20))
        #expect(text(story).contains("tunnel.changed"))
    }

    @Test func `the details stay with the selected event when new ones arrive`() {
        var story = Story.restless()
        story.press(.down, .down)
        for _ in 0..<3 { story.publish(.tunnelChanged) }
        story.press(.enter)
        #expect(text(story).contains("14:29:31.623"))
        #expect(text(story).contains("path.noRoute"))
    }

    @Test func `space pauses and resumes the log`() {
        var story = Story.wifi()
        story.type(" ")
        story.publish(.tunnelChanged)
        story.publish(.ruleChanged)
        #expect(text(story).contains("paused, 2 new") && !text(story).contains("tunnel.changed"))
        story.type(" ")
        #expect(!text(story).contains("paused") && text(story).contains("rule.changed"))
    }

    @Test func `tab selects the parts that do not fit, and arrows scroll them`() {
        var story = Story.manyInterfaces()
        story.press(.down)
        #expect(chosen(story) != nil)
        story.press(.tab, .end)
        #expect(text(story).contains("  lo ") && !text(story).contains("▸ eth0"))
        story.press(.tab, .home)
        #expect(!text(story).contains("▸ eth0"))
        var few = Story.wifi()
        few.press(.tab, .down)
        #expect(chosen(few) != nil)
    }

    @Test func `hosts that do not fit are scrolled too`() {
        var story = Story(hosts: (1...30).map { "192.0.2.\($0)" })
        #expect(text(story).contains("192.0.2.1 ") && text(story).contains("more, tab to scroll them"))
        story.press(.tab, .pageDown)
        #expect(!text(story).contains("192.0.2.1 ") && text(story).contains("to see them"))
        story.press(.end)
        #expect(text(story).contains("192.0.2.30 "))
        story.input(.wheel(up: true, row: 8))
        #expect(!text(story).contains("192.0.2.30 "))
    }

    @Test func `the wheel scrolls the part under the pointer`() {
        var story = Story.manyInterfaces()
        #expect(text(story).contains("▸ eth0"))
        story.input(.wheel(up: false, row: 5))
        #expect(!text(story).contains("▸ eth0"))
        story.input(.wheel(up: true, row: 5))
        #expect(text(story).contains("▸ eth0"))
    }

    private let size = ScreenSize(columns: 80, rows: 24)

    private func text(_ story: Story) -> String { story.view.frame(size).lines.map(\.text).joined(separator: "\n") }

    private func lastLine(_ story: Story) -> String { story.view.frame(size).lines.last?.text ?? "" }

    private func logLines(_ story: Story) -> [String] {
        let lines = story.view.frame(size).lines.map(\.text)
        return lines.firstIndex { $0.hasPrefix("LOG") }.map { Array(lines[($0 + 1)...]) } ?? []
    }

    private func chosen(_ story: Story) -> String? {
        story.view.frame(size).lines.first { $0.runs.contains(where: \.style.isReversed) }?.text
    }
}
