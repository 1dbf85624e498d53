import NetwatchCore
import ReachabilityCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct ScreenPropertyTests {
    @Test(arguments: UInt64(0)..<24) func `a frame fits its screen and has no control characters`(seed: UInt64) {
        var random = RandomStory(seed: seed)
        for _ in 0..<120 {
            random.step()
            let size = random.size
            let frame = random.story.view.frame(size)
            #expect(frame.lines.count <= size.rows)
            for line in frame.lines {
                #expect(TextWidth.columns(line.text) <= size.columns, "\(size): \(line.text)")
                #expect(isHarmless(line.text, asASCII: seed.isMultiple(of: 3)), "\(line.text.debugDescription)")
            }
            if let cursor = frame.cursor {
                #expect(cursor.row < size.rows && cursor.column < size.columns && cursor.column >= 0)
            }
        }
    }

    @Test(arguments: UInt64(100)..<112) func `the lines are the same while the revision is`(seed: UInt64) {
        var random = RandomStory(seed: seed)
        let size = ScreenSize(columns: 100, rows: 30)
        var unchanged = 0
        for _ in 0..<300 {
            let before = random.story.view
            random.step()
            guard random.story.view.revision == before.revision else { continue }
            unchanged += 1
            #expect(random.story.view.frame(size).lines == before.frame(size).lines)
        }
        #expect(unchanged > 20)
    }

    @Test(arguments: UInt64(300)..<312) func `the stored layout is that of the current content`(seed: UInt64) {
        var random = RandomStory(seed: seed)
        let size = ScreenSize(columns: 100, rows: 30)
        random.resize(size)
        for _ in 0..<300 {
            random.stepWithoutResize()
            var drawn = random.story.view
            // The second time everything is computed again.
            #expect(drawn.frame() == random.story.view.frame(size))
            // The drawn view continues with the layout that it has computed.
            random.draw()
        }
    }

    @Test(arguments: UInt64(200)..<212) func `time changes a frame only at the announced moment`(seed: UInt64) throws {
        var random = RandomStory(seed: seed)
        let size = ScreenSize(columns: 120, rows: 40)
        for _ in 0..<150 {
            random.step()
            // The moment of the last input may be older than the story's.
            random.tick()
            let frame = random.story.view.frame(size)
            let next = try #require(frame.nextChange)
            var later = random.story
            let rest = later.moment.instant.duration(to: next)
            #expect(rest > .zero && rest <= .seconds(60))
            later.tick(after: rest - .nanoseconds(1))
            #expect(later.view.frame(size) == frame)
            #expect(later.view.revision == random.story.view.revision)
            later.tick(after: .nanoseconds(1))
            #expect(try #require(later.view.frame(size).nextChange) > next)
        }
    }

    @Test func `an idle machine's screen changes at most once a minute`() {
        var story = Story.wifi()
        story.sayTraffic(Array(repeating: (800, 90), count: 40))
        story.tick(after: .seconds(60))
        let size = ScreenSize(columns: 120, rows: 40)
        var changes = 0
        var lines = story.view.frame(size).lines
        for second in 0..<3600 where second.isMultiple(of: 2) {
            let jitter = UInt64(second % 7)
            story.wait(.seconds(2))
            story.count(received: 1600 + jitter * 3, sent: 180)
            story.sayWiFi("office", signal: -54 - second % 3)
            let next = story.view.nextChange
            if let next, next <= story.moment.instant { story.input(.tick(story.moment)) }
            let now = story.view.frame(size).lines
            if now != lines { changes += 1 }
            lines = now
        }
        #expect(changes > 0 && changes <= 60)
    }

    private func isHarmless(_ text: String, asASCII: Bool) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            asASCII ? (0x20..<0x7F).contains(scalar.value) : !scalar.isControl
        }
    }
}
