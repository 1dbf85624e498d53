import Glibc
import Locking
package import Testing

/// A trait of tests that block the thread on which they run, for example until a program has ended.
///
/// They run on threads of their own. Those of Swift's tasks, of which there is one for each core, are left to the tests that run
/// at the same time, whose limits would pass otherwise.
package struct BlockingTrait: TestTrait, SuiteTrait, TestScoping {
    /// Whether all tests of a suite have the trait, rather than the suite as a whole.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingThreads.shared, operation: function)
    }
}

extension Trait where Self == BlockingTrait {
    /// Runs the tests, and their child tasks, on threads that they may block.
    package static var blocksItsThread: Self { .init() }
}

/// Threads that run tasks which may block them.
///
/// `@unchecked Sendable`: `arrivals` is a sem_t at a fixed address, whose functions are safe on any thread; the jobs are behind
/// the lock.
private final class BlockingThreads: TaskExecutor, @unchecked Sendable {
    static let shared = BlockingThreads()

    /// More than the tests that run at once, with their child tasks.
    private static let count = 32

    private let jobs = Lock<[UnownedJob]>([])
    private let arrivals: UnsafeMutablePointer<sem_t> = .allocate(capacity: 1)

    /// All threads are started here: one that was started when a job arrives would inherit the network namespace of the thread
    /// that resumes a task.
    private init() {
        sem_init(arrivals, 0, 0)
        do throws(LabError) {
            for _ in 0..<Self.count { _ = try LabThread { self.work() } }
        } catch {
            fatalError("there are too few threads for the tests: \(error)")
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        sem_post(arrivals)
    }

    private func work() {
        // Where this process may not, no test has a namespace of its own.
        try? LabNamespace.enterFirst()
        while true {
            // Interrupted: EINTR, the only error of a valid semaphore.
            while sem_wait(arrivals) != 0 {}
            let job = jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
