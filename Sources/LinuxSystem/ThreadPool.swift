import Glibc
import Locking

/// Threads for work that may block: subscribers' closures, or name lookups.
///
/// A job gets a thread immediately, whatever the others are doing: there are as many threads as running jobs, up to
/// ``limit``. One idle thread stays until the pool is released; the others end when they find no job.
package final class ThreadPool: Sendable {
    /// A piece of work.
    package typealias Job = @Sendable () -> Void

    /// The maximum number of threads; further jobs wait for one of them.
    package static let limit = 64

    private let workers: Workers

    /// Creates a pool without threads.
    ///
    /// - Parameter name: The threads' name for `ps -L`; up to 15 bytes.
    package init(name: String = "netwatch-helper") {
        workers = .init(name: name)
    }

    deinit { workers.close() }

    /// Runs a job on one of the threads, soon.
    package func enqueue(_ job: @escaping Job) {
        workers.enqueue(job)
    }
}

/// The threads' shared state; lives as long as the last of them.
///
/// `@unchecked Sendable`: `wakeups` is a sem_t at a fixed address, whose functions are safe on any thread; everything else
/// is behind the lock.
private final class Workers: @unchecked Sendable {
    private struct State {
        var jobs: [ThreadPool.Job] = []
        var threads = 0
        /// Threads that sleep and that are not being woken.
        var idle = 0
        var isClosed = false
    }

    private enum Next {
        case run(ThreadPool.Job)
        case sleep
        case end
    }

    private let state = Lock(State())
    private let wakeups: UnsafeMutablePointer<sem_t>
    private let name: String

    init(name: String) {
        self.name = name
        wakeups = .allocate(capacity: 1)
        sem_init(wakeups, 0, 0)
    }

    deinit {
        sem_destroy(wakeups)
        wakeups.deallocate()
    }

    func enqueue(_ job: @escaping ThreadPool.Job) {
        let (wakes, starts) = state.withLock { state in
            state.jobs.append(job)
            let wakes = state.idle > 0
            let starts = !wakes && state.threads < ThreadPool.limit
            if wakes { state.idle -= 1 }
            if starts { state.threads += 1 }
            return (wakes, starts)
        }
        if wakes { sem_post(wakeups) }
        if starts { start() }
    }

    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.idle = 0 }
            return state.idle
        }
        for _ in 0..<sleepers { sem_post(wakeups) }
    }

    private func start() {
        do throws(SystemError) {
            try SystemThread.detach(name) { self.work() }
        } catch {
            // Where the machine has no thread to give, the pool of Swift's tasks must do.
            Task.detached { self.workWithoutSleeping() }
        }
    }

    private func work() {
        while true {
            switch next(maySleep: true) {
            case .run(let job): job()
            case .sleep: while sem_wait(wakeups) != 0 {}  // Interrupted: EINTR, the only error of a valid semaphore.
            case .end: return
            }
        }
    }

    private func workWithoutSleeping() {
        while case .run(let job) = next(maySleep: false) { job() }
    }

    private func next(maySleep: Bool) -> Next {
        state.withLock { state in
            if !state.jobs.isEmpty { return .run(state.jobs.removeFirst()) }
            if maySleep, !state.isClosed, state.idle == 0 {
                state.idle = 1
                return .sleep
            }
            state.threads -= 1
            return .end
        }
    }
}
