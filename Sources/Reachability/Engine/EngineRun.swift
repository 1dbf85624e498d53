import Glibc
import Locking
import ReachabilityCore
import Synchronization

/// One run of an engine, from a start to the stop: what its event thread and the other threads share.
final class EngineRun: Sendable {
    /// A job for the event thread.
    typealias Job = @Sendable (EventLoop) -> Void

    /// Wakes the event thread.
    let wakeUp: WakeUp
    /// Opens with nil when the sockets are open, or with what kept them from being opened.
    ///
    /// Not a `Result`: to find out that its failure is an `Error` the runtime searches all of the program's types.
    let opened = Gate<MonitorError?>()
    /// Tells when the event thread has called the sink for the last time.
    let end = RunEnd()
    /// Look-ups of other threads, in the event thread's namespace.
    let lookups = Lock<LookupSocket?>(nil)
    private let mailbox = Lock<Mailbox>(.init())
    private let stopping = Atomic<Bool>(false)
    private let handle = Lock<Handle>(.pending)
    private let loop = ConfinedLoop()

    /// Who is to release the thread's resources.
    private enum Handle {
        /// The thread is being started.
        case pending
        /// Whoever stops it joins it.
        case joinable(pthread_t)
        /// It was joined, or releases itself when it ends.
        case released
    }

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
    }

    init() throws(MonitorError) {
        wakeUp = try WakeUp()
    }

    /// Waits until the sockets are open.
    ///
    /// - Throws: Why they can't be opened.
    func waitUntilOpened() throws(MonitorError) {
        if let error = opened.wait() { throw error }
    }

    /// Whether the event thread is to end.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Lets the event thread end.
    func stop() {
        stopping.store(true, ordering: .releasing)
        wakeUp.signal()
    }

    /// Keeps the thread for whoever stops it; if that has happened already, the thread releases itself.
    func keep(_ thread: pthread_t) {
        let wasStopped = handle.withLock { handle in
            guard case .pending = handle else { return true }
            handle = .joinable(thread)
            return false
        }
        if wasStopped { pthread_detach(thread) }
    }

    /// Releases the thread when it ends; waits for that, unless the calling thread is the one.
    func release() {
        let thread: pthread_t? = handle.withLock { handle in
            defer { handle = .released }
            guard case .joinable(let thread) = handle else { return nil }
            return thread
        }
        guard let thread else { return end.wait() }
        if end.isOwn { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    /// Hands a job to the event thread; false if that takes none any more.
    func perform(_ job: @escaping Job) -> Bool {
        let isFirst: Bool? = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return nil }
            mailbox.jobs.append(job)
            return mailbox.jobs.count == 1
        }
        guard let isFirst else { return false }
        if isFirst { wakeUp.signal() }
        return true
    }

    /// Takes the jobs that wait; on closing, no others are taken.
    func takeJobs(closing: Bool = false) -> [Job] {
        mailbox.withLock { mailbox in
            if closing { mailbox.isClosed = true }
            defer { mailbox.jobs = [] }
            return mailbox.jobs
        }
    }

    /// Notes what the event thread runs; nil when it ends.
    func enter(_ loop: EventLoop?) {
        self.loop.value = loop
    }

    /// What the calling thread runs, if it is the event thread.
    var currentLoop: EventLoop? {
        end.isOwn ? loop.value : nil
    }

    /// `@unchecked Sendable`: the value is read and written on the event thread alone, which ``currentLoop`` makes sure.
    private final class ConfinedLoop: @unchecked Sendable {
        var value: EventLoop?
    }
}
