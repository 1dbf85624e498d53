import NetworkLab
import Testing

@Suite("Tests that block their thread", .blocksItsThread, .timeLimit(.minutes(10)))
struct BlockingTests {
    @Test("Tasks that wait for one another without suspending all run at once")
    func meeting() async throws {
        let arrivals = LabInbox<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    arrivals.put(number)
                    try arrivals.wait(for: "all tasks", within: .seconds(300)) { $0.count == 8 }
                }
            }
            try await group.waitForAll()
        }
        #expect(arrivals.all.sorted() == Array(0..<8))
    }

    @Test("A test that does not suspend runs on such a thread too")
    func executor() { #expect(Self.hasExecutor) }

    /// Whether the current task runs on an executor of its own.
    private static var hasExecutor: Bool { withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil } }
}
