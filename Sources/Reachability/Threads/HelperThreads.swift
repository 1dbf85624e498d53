import Glibc
import Locking

/// Threads of the library's own for work that may block: subscribers' closures, name look-ups.
///
/// A job gets a thread at once, whatever the others are doing; there are as many threads as jobs that run, up to
/// ``limit``. One idle thread stays, asleep, and ends with this object; the others end when they find nothing to do.
/// All signals are blocked on them, so that a program's handlers run on the program's own threads.
final class HelperThreads: Sendable {
    /// A piece of work.
    typealias Job = @Sendable () -> Void

    /// How many threads there are at most; jobs beyond wait for one of them.
    static let limit = 64

    private let crew: Crew

    /// Makes no thread yet.
    ///
    /// - Parameter name: What `ps -L` calls the threads; up to 15 bytes.
    init(name: String = "netwatch-helper") {
        crew = .init(name: name)
    }

    deinit { crew.close() }

    /// Runs a job on a thread of its own, soon.
    func enqueue(_ job: @escaping Job) {
        crew.enqueue(job)
    }
}

/// What the threads share with each other and with their owner; lives as long as the last of them.
///
/// `@unchecked`: `wakeUps` is a sem_t at a fixed address, whose functions are safe on any thread; everything else lies
/// behind the lock.
private final class Crew: @unchecked Sendable {
    private struct State {
        var jobs: [HelperThreads.Job] = []
        var threads = 0
        /// Threads that sleep and that nobody is waking.
        var idle = 0
        var isClosed = false
    }

    private enum Next {
        case run(HelperThreads.Job)
        case sleep
        case end
    }

    private let state = Lock(State())
    private let wakeUps: UnsafeMutablePointer<sem_t>
    private let name: String

    init(name: String) {
        self.name = name
        wakeUps = .allocate(capacity: 1)
        sem_init(wakeUps, 0, 0)
    }

    deinit {
        sem_destroy(wakeUps)
        wakeUps.deallocate()
    }

    func enqueue(_ job: @escaping HelperThreads.Job) {
        let (wakes, starts) = state.withLock { state in
            state.jobs.append(job)
            let wakes = state.idle > 0
            let starts = !wakes && state.threads < HelperThreads.limit
            if wakes { state.idle -= 1 }
            if starts { state.threads += 1 }
            return (wakes, starts)
        }
        if wakes { sem_post(wakeUps) }
        if starts { start() }
    }

    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.idle = 0 }
            return state.idle
        }
        for _ in 0..<sleepers { sem_post(wakeUps) }
    }

    private func start() {
        // Where the machine has no thread to give, the pool of Swift's tasks must do.
        if !DetachedThread.start(name, { self.work() }) { Task.detached { self.workWithoutSleeping() } }
    }

    private func work() {
        while true {
            switch next(maySleep: true) {
            case .run(let job): job()
            case .sleep: while sem_wait(wakeUps) != 0 {}  // Interrupted: EINTR, the only error of a valid semaphore.
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
