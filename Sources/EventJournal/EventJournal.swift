import DurableStore
package import EventCore
import LinuxSystem
import Locking
package import NetwatchCore
import ReachabilityCore

/// A journal of events in a folder, which outlive the service.
///
/// Everything that touches the disk happens in one task, in order; the functions only queue. A journal that cannot be
/// written loses events, says so once, and tries again.
package final class EventJournal: EventStore {
    /// The properties of a journal.
    package struct Configuration: Sendable {
        /// The folder, which is created if it is missing.
        package var folder: String
        /// How much is kept.
        package var limits = JournalLimits()
        /// The run of the service.
        package var run: UInt64
        /// The identifier of the running system (`/proc/sys/kernel/random/boot_id`).
        package var bootIdentifier: String
        /// When the run began.
        package var beginning: EventMetrics.Moment
        /// The place's days, for reports.
        package var place: Place
        /// The lock of the folder, which is taken before an access if it could not be taken earlier; nil for none.
        package var lock: JournalLock?
        /// The time after which an event that did not change the state is stored.
        package var interval = Duration.seconds(5)
        /// Called after events were stored.
        package var hasStored: @Sendable () -> Void = {}
        /// Called with a problem, and when it is over; on one line.
        package var tell: @Sendable (String) -> Void

        /// Creates properties.
        package init(
            folder: String,
            run: UInt64,
            bootIdentifier: String,
            beginning: EventMetrics.Moment,
            place: Place,
            tell: @escaping @Sendable (String) -> Void
        ) {
            self.folder = folder
            self.run = run
            self.bootIdentifier = bootIdentifier
            self.beginning = beginning
            self.place = place
            self.tell = tell
        }
    }

    /// The days and the clock of reports.
    package struct Place: Sendable {
        let days: LocalDays
        let clock: @Sendable (Timestamp) -> String

        /// Creates a place.
        ///
        /// - Parameters:
        ///   - days: The days.
        ///   - clock: Writes times.
        package init(days: LocalDays, clock: @escaping @Sendable (Timestamp) -> String) {
            self.days = days
            self.clock = clock
        }
    }

    /// Queues a job that stores events, after the interval.
    private let flushLater: @Sendable () -> Void
    private let queue: JournalQueue
    private let jobs: AsyncStream<JournalJob>.Continuation
    private let ended = BlockingPromise<Void>()

    /// Opens a journal, in the background; it must be closed.
    package init(_ configuration: Configuration) {
        let (stream, jobs) = AsyncStream.makeStream(of: JournalJob.self)
        let (queue, ended, thread) = (JournalQueue(), ended, try? JournalThread())
        self.jobs = jobs
        self.queue = queue
        let flushLater = Self.delayedFlush(after: configuration.interval, jobs, thread)
        self.flushLater = flushLater
        // Without a thread of its own, it runs where all tasks do.
        Task(executorPreference: thread) {
            var writer = JournalWriter(configuration, queue, flushLater)
            for await job in stream { await writer.perform(job) }
            await writer.end()
            thread?.stop()
            ended.fulfill(())
        }
    }

    package var health: JournalHealth { queue.health }

    package func restore(_ body: @escaping @Sendable (EventTotals?) -> Void) { jobs.yield(.restore(body)) }

    package func append(_ event: StoredEvent) {
        switch queue.append(event) {
        case .now: jobs.yield(.flush)
        case .later: flushLater()
        case .queued: break
        }
    }

    package func save(_ totals: EventTotals, at moment: EventMetrics.Moment) {
        if queue.save(totals, at: moment) { jobs.yield(.flush) }
    }

    package func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void) {
        jobs.yield(.page(after: id, limit: limit, body))
    }

    package func start(
        since age: Duration,
        at now: EventMetrics.Moment,
        _ body: @escaping @Sendable (EventID?) -> Void
    ) {
        jobs.yield(.start(age, now, body))
    }

    package func report(
        since age: Duration,
        at now: EventMetrics.Moment,
        _ body: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        jobs.yield(.report(age, now, body))
    }

    /// Stores what is queued and that the run ended, and closes the journal; waits for that.
    package func close() {
        jobs.finish()
        ended.wait()
    }

    /// Creates a closure that queues a job that stores events, after an interval; a later call takes the place of an earlier.
    static func delayedFlush(
        after interval: Duration,
        _ jobs: AsyncStream<JournalJob>.Continuation,
        _ thread: JournalThread?
    ) -> @Sendable () -> Void {
        guard let thread else {
            let last = Lock<Task<Void, Never>?>(nil)
            return {
                let next = Task {
                    guard (try? await Task.sleep(for: interval)) != nil else { return }
                    jobs.yield(.flush)
                }
                let earlier = last.withLock { last in
                    defer { last = next }
                    return last
                }
                earlier?.cancel()
            }
        }
        return { thread.call(at: SystemClock.now.advanced(by: interval)) { jobs.yield(.flush) } }
    }
}

/// Something that the task of a journal does.
enum JournalJob: Sendable {
    case flush
    case restore(@Sendable (EventTotals?) -> Void)
    case page(after: EventID, limit: Int, @Sendable (JournalPage<[UInt8]>) -> Void)
    case start(Duration, EventMetrics.Moment, @Sendable (EventID?) -> Void)
    case report(Duration, EventMetrics.Moment, @Sendable ([UInt8]?) -> Void)
}
