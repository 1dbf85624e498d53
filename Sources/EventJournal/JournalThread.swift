import LinuxSystem
import Locking
import ReachabilityCore

/// The thread on which the task of a journal runs, and which calls a closure at a time.
///
/// A thread of its own, because the shared ones of Swift's concurrency may all be blocked in a program; the journal is to be
/// written then, too.
final class JournalThread: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var alarm: (time: Instant, body: @Sendable () -> Void)?
        var isStopped = false
    }

    private let state = Lock(State())
    private let wakeup: Wakeup

    /// Starts the thread.
    init() throws(SystemError) {
        wakeup = try Wakeup()
        try SystemThread.detach("event-journal") { [self] in run() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wakeup.signal()
    }

    /// Calls a closure at a time, on the thread; an earlier request that is still due is replaced.
    func call(at time: Instant, _ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.alarm = (time, body) }
        wakeup.signal()
    }

    /// Ends the thread, after the jobs that are queued.
    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.signal()
    }

    private func run() {
        while true {
            let (jobs, alarm, isStopped) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.alarm, state.isStopped)
            }
            for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
            if let alarm, SystemClock.now >= alarm.time {
                state.withLock { $0.alarm = nil }
                alarm.body()
            } else if jobs.isEmpty {
                if isStopped { return }
                _ = wakeup.wait(until: alarm?.time ?? .init(nanoseconds: .max))
                wakeup.clear()
            }
        }
    }
}
