import LinuxSystem

/// Runs tasks that read and write files on threads of their own, which may block, rather than on those of Swift's tasks.
final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let threads = ThreadPool(name: "outbox-incoming")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.enqueue { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
