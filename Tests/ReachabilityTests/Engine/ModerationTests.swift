import ReachabilityCore
import Testing

@testable import Reachability

/// When messages gather before the next wake-up.
@Suite struct ModerationTests {
    @Test func `messages gather only in a storm of unimportant ones`() {
        var moderation = Moderation()
        var now = Instant(nanoseconds: 0)
        func next(_ count: UInt64 = 1, isImportant: Bool = false, after gap: Duration = .milliseconds(1)) -> Bool {
            now = now.advanced(by: gap)
            return moderation.note(count, isImportant: isImportant, at: now) != nil
        }
        for _ in 0..<7 { #expect(!next()) }
        #expect(next())
        #expect(next(31))
        #expect(!next(32), "there are many at once already")
        #expect(!next(0), "nothing was received")
        #expect(next())
        #expect(!next(isImportant: true))
        #expect(!next(), "what mattered ends the storm")
        for _ in 0..<6 { #expect(!next()) }
        #expect(next())
        #expect(!next(after: .milliseconds(20)), "so does silence")
    }

    @Test func `the pause is limited`() {
        var moderation = Moderation()
        var end: Instant?
        for step in 1...9 { end = moderation.note(1, isImportant: false, at: .init(nanoseconds: Int64(step))) }
        #expect(end == Instant(nanoseconds: 4_000_009))
    }

    @Test func `a lasting storm gathers messages for longer, up to a limit`() {
        var moderation = Moderation()
        var pauses: [Duration] = []
        for step in 1...200 {
            let now = Instant(nanoseconds: Int64(step) * 1_000_000)
            if let end = moderation.note(1, isImportant: false, at: now) { pauses.append(now.duration(to: end)) }
        }
        #expect(pauses.first == .milliseconds(4))
        #expect(pauses.contains(.milliseconds(8)))
        #expect(pauses.max() == .milliseconds(16))
        #expect(pauses == pauses.sorted())
    }
}
