import LinuxSystem
import Locking
import ReachabilityCore
import Synchronization

/// One run of an engine, from its start to its stop: the event thread, and the jobs that other threads hand to it.
final class EngineRun: Sendable {
    /// A job for the event thread; called with nil if the sockets could not be opened.
    typealias Job = @Sendable (EventLoop?) -> Void

    /// Wakes the event thread.
    let wakeup: Wakeup
    /// The event thread.
    let thread: EventThread
    /// Fulfilled with nil when the sockets are open, or with why they cannot be opened.
    ///
    /// Not a `Result`: to find out that its failure is an `Error` the runtime searches all of the program's types.
    private let opened = BlockingPromise<ReachabilityError?>()
    private let mailbox = Lock<Mailbox>(.init())
    private let stopping = Atomic<Bool>(false)
    private let loop = ConfinedLoop()

    private struct Mailbox {
        var jobs: [Job] = []
        var isClosed = false
    }

    /// `@unchecked Sendable`: the value is read and written on the event thread alone, which ``currentLoop`` checks.
    private final class ConfinedLoop: @unchecked Sendable {
        var value: EventLoop?
    }

    /// The stack of the event thread, on which `.immediate` subscribers are called, in bytes.
    private static let stackSize = 512 << 10

    /// Starts the event thread.
    ///
    /// - Parameters:
    ///   - state: What all runs share.
    ///   - earlier: The threads of the runs before, which must end before this one calls the sink.
    /// - Throws: ``ReachabilityError/Code/noResources`` if there is no thread or descriptor to be had.
    init(_ state: EngineState, after earlier: [EventThread]) throws(ReachabilityError) {
        thread = EventThread(after: earlier)
        do throws(SystemError) {
            wakeup = try Wakeup()
            try thread.system.start("reachability", stackSize: Self.stackSize) { [self] in main(state) }
        } catch {
            throw ReachabilityError(error)
        }
    }

    private func main(_ state: EngineState) {
        do throws(ReachabilityError) {
            let loop = try EventLoop(state, self, in: state.configuration.namespace.open())
            self.loop.value = loop
            opened.fulfill(nil)
            thread.waitForPredecessors()
            loop.main()
            self.loop.value = nil
        } catch {
            for job in takeJobs(closing: true) { job(nil) }
            opened.fulfill(error)
        }
    }

    /// Waits until the sockets are open.
    ///
    /// - Throws: Why they cannot be opened.
    func waitUntilOpened() throws(ReachabilityError) {
        if let error = opened.wait() { throw error }
    }

    /// Whether the event thread is to end.
    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    /// Ends the event thread, and waits as ``EventThread/waitForEnd()`` does.
    func stop() {
        stopping.store(true, ordering: .releasing)
        wakeup.signal()
        thread.waitForEnd()
    }

    /// Hands a job to the event thread.
    ///
    /// - Returns: Whether it takes jobs.
    func perform(_ job: @escaping Job) -> Bool {
        let isFirst: Bool? = mailbox.withLock { mailbox in
            guard !mailbox.isClosed else { return nil }
            mailbox.jobs.append(job)
            return mailbox.jobs.count == 1
        }
        guard let isFirst else { return false }
        if isFirst { wakeup.signal() }
        return true
    }

    /// Takes the waiting jobs.
    ///
    /// - Parameter closing: Whether to accept no others from now on.
    /// - Returns: The jobs, in the order in which they were handed over.
    func takeJobs(closing: Bool = false) -> [Job] {
        mailbox.withLock { mailbox in
            if closing { mailbox.isClosed = true }
            defer { mailbox.jobs = [] }
            return mailbox.jobs
        }
    }

    /// The event loop, if the calling thread is the event thread.
    var currentLoop: EventLoop? { thread.system.isCurrent ? loop.value : nil }
}

/// The event thread of a run, which begins once those of earlier runs have ended.
struct EventThread: Sendable {
    /// The thread itself.
    let system = SystemThread()
    private let predecessors: [SystemThread]

    init(after earlier: [EventThread]) { predecessors = earlier.map(\.system) }

    /// Whether it begins only after the calling thread has ended: that of an earlier run, whose sink has stopped the
    /// engine and started it again.
    var waitsForCaller: Bool { predecessors.contains { $0.isCurrent } }

    /// Waits until the threads of earlier runs have ended; to be called by this one.
    func waitForPredecessors() {
        for thread in predecessors { thread.waitForEnd() }
    }

    /// Waits until it has ended, unless it is the calling thread, or waits for that to end.
    func waitForEnd() {
        if !waitsForCaller { system.waitForEnd() }
    }
}
