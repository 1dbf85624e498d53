import Testing

@testable import NetworkClientCore

/// Whether the kernel takes what is to be written, however much is added meanwhile.
struct WriteProgressTests {
    @Test func `what makes the rest smaller is progress`() {
        var progress = WriteProgress()
        progress.begin(rest: 100)
        #expect(!progress.hasMoved(rest: 100))
        #expect(progress.hasMoved(rest: 99))
        // Asked again, it is measured from the beginning still.
        #expect(!progress.hasMoved(rest: 100))
    }

    @Test func `what is added does not hide what was taken`() {
        var progress = WriteProgress()
        progress.begin(rest: 262_144)
        progress.willAdd(to: 30_000)
        progress.added(rest: 292_144)
        #expect(progress.hasMoved(rest: 292_144))
        progress.begin(rest: 292_144)
        #expect(!progress.hasMoved(rest: 292_144))
    }

    @Test func `what is added is no progress, and what is taken of it is`() {
        var progress = WriteProgress()
        progress.begin(rest: 10)
        for rest in stride(from: 10, to: 60, by: 10) {
            progress.willAdd(to: rest)
            progress.added(rest: rest + 10)
        }
        #expect(!progress.hasMoved(rest: 60))
        #expect(progress.hasMoved(rest: 59))
    }
}
