import ReachabilityCore
import Testing

@testable import NetworkClientCore

/// Tests of when the kernel last accepted bytes, however many are added in between.
struct WriteProgressTests {
    private let start = Instant(nanoseconds: 1_000)

    private func at(_ seconds: Int) -> Instant { start.advanced(by: .seconds(seconds)) }

    @Test func `a smaller remainder is progress`() {
        var progress = WriteProgress()
        progress.begin(rest: 100, at: start)
        #expect(progress.check(rest: 100, at: at(1)) == start)
        #expect(progress.check(rest: 99, at: at(2)) == at(2))
        #expect(progress.check(rest: 99, at: at(3)) == at(2))
    }

    @Test func `progress right after the start does not extend the deadline twice`() {
        var progress = WriteProgress()
        progress.begin(rest: 30_000_000, at: start)
        #expect(progress.check(rest: 29_000_000, at: at(1)) == at(1))
        for second in 2...61 { #expect(progress.check(rest: 29_000_000, at: at(second)) == at(1)) }
    }

    @Test func `added bytes don't hide progress`() {
        var progress = WriteProgress()
        progress.begin(rest: 262_144, at: start)
        progress.willAdd(to: 30_000)
        progress.added(rest: 292_144)
        #expect(progress.check(rest: 292_144, at: at(1)) == at(1))
        #expect(progress.check(rest: 292_144, at: at(2)) == at(1))
    }

    @Test func `adding bytes is no progress, and sending them is`() {
        var progress = WriteProgress()
        progress.begin(rest: 10, at: start)
        for rest in stride(from: 10, to: 60, by: 10) {
            progress.willAdd(to: rest)
            progress.added(rest: rest + 10)
        }
        #expect(progress.check(rest: 60, at: at(1)) == start)
        #expect(progress.check(rest: 59, at: at(2)) == at(2))
    }
}
