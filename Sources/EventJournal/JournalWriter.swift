import DurableStore
import EventCore
import Glibc
import ReachabilityCore

/// Stores and reads events; used by one task.
struct JournalWriter {
    private let configuration: EventJournal.Configuration
    private let queue: JournalQueue
    /// Queues a job that stores events, after the interval.
    private let flushLater: @Sendable () -> Void
    private var store: DurableStore?
    /// The counters of earlier runs; nil until they are read.
    private var earlier: EventTotals?
    /// The counters of the journal when they were last read or stored here.
    private var stored = EventTotals()
    private var restore: (@Sendable (EventTotals?) -> Void)?
    private var commits = 0

    init(
        _ configuration: EventJournal.Configuration,
        _ queue: JournalQueue,
        _ flushLater: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.queue = queue
        self.flushLater = flushLater
    }

    /// Performs a job.
    mutating func perform(_ job: JournalJob) async {
        switch job {
        case .flush: await flush()
        case .restore(let body):
            restore = body
            if await attempt({ _ in }) == nil { body(nil) }
            if let earlier { take(earlier) }
        case .page(let id, let limit, let body):
            // What waits is a part of this run, too.
            if id.run == configuration.run, queue.hasWaiting { await flush() }
            let page = await attempt { try $0.page(after: id, limit: limit) }
            // Without a journal, it is as if it had nothing.
            body(page ?? .init([], failure: .unknown, isReadable: false))
        case .start(let age, let now, let body):
            body(await attempt { [run = configuration.run] in try $0.start(since: age, at: now, in: run) } ?? nil)
        case .report(let age, let now, let body):
            if queue.hasWaiting { await flush() }
            let (run, place) = (configuration.run, configuration.place)
            body(await attempt { try JournalReport.line($0, since: age, at: now, in: run, place) })
        }
    }

    /// Stores what is queued, and that the run ended.
    mutating func end() async {
        await flush()
        let newest = queue.batch().newest
        let run = configuration.run
        // A run that cannot be ended counts as killed.
        if let store { _ = try? await store.write { try $0.endRun(run, last: newest) } }
        store?.close()
        store = nil
    }

    private mutating func flush() async {
        let batch = queue.batch()
        guard let moment = batch.moment else { return }
        commits += 1
        let (run, limits, isPruning) = (configuration.run, configuration.limits, commits % 16 == 1)
        let (boot, beginning) = (configuration.bootIdentifier, configuration.beginning)
        // Reads what another service has stored meanwhile; a failure is reported below.
        _ = try? await opened()
        let totals = batch.totals.map { $0 + (earlier ?? .init()) }
        let isRestored = earlier != nil
        let isStored: Void? = await attempt(writes: true) { database in
            // Another process may have removed the file, in whose place there is an empty one then.
            try database.beginRun(run, boot: boot, at: beginning)
            try database.insert(batch.events, of: run, at: moment)
            // Counters that were never read are not replaced.
            if let totals, isRestored { try database.replace(totals) }
            if isPruning { try database.prune(limits, at: moment, in: run) }
        }
        guard isStored != nil else {
            // Otherwise, what waits would not be stored before the next event.
            if queue.retry() { flushLater() }
            return
        }
        if let totals, isRestored { stored = totals }
        if queue.hasStored(batch) { configuration.tell("events are stored in '\(configuration.folder)' again") }
        if !batch.events.isEmpty { configuration.hasStored() }
    }

    // MARK: Opening, and failures

    /// Runs a closure with the database; nil if that fails, which is reported.
    ///
    /// A damaged journal is set aside, and the closure is run again with an empty one.
    private mutating func attempt<Value: Sendable>(
        writes: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async -> Value? {
        for isLast in [false, true] {
            do {
                let store = try await opened()
                return writes ? try await store.write(body) : try await store.read(body)
            } catch {
                store?.close()
                store = nil
                guard !isLast, (error as? StoreError)?.code == .damaged, setAside() else {
                    report(error)
                    return nil
                }
            }
        }
        return nil
    }

    private func report(_ error: any Error) {
        guard queue.hasFailed() else { return }
        let reason = (error as? StoreError).map { "\($0.reason); \($0.advice)" } ?? "\(error)"
        configuration.tell("events are served, but not stored in '\(configuration.folder)': \(reason)")
    }

    private mutating func opened() async throws -> DurableStore {
        if store == nil, mkdir(configuration.folder, 0o700) != 0, errno != EEXIST {
            throw StoreError("make the directory", configuration.folder, errno: errno)
        }
        try lockFolder()
        if let store { return store }
        let (folder, tell) = (configuration.folder, configuration.tell)
        var options = DurableStore.Options(migrations: JournalSchema.migrations)
        options.repair = { _ in try Self.setAside(folder, tell) }
        let files = DurableStore.Files(folder: folder, name: JournalSchema.fileName)
        let store = try DurableStore(files, options, bootIdentifier: configuration.bootIdentifier)
        do {
            let (run, boot, beginning) = (configuration.run, configuration.bootIdentifier, configuration.beginning)
            let totals = try await store.write { database in
                try database.beginRun(run, boot: boot, at: beginning)
                return try database.totals()
            }
            take(totals)
        } catch {
            store.close()
            throw error
        }
        self.store = store
        return store
    }

    /// Takes the lock of the folder, if that was not possible before.
    ///
    /// - Throws: ``JournalInUse`` if another service has taken it meanwhile: this one must store nothing then.
    private func lockFolder() throws(JournalInUse) {
        guard let lock = configuration.lock else { return }
        let earlier = lock.problem
        if try lock.take() {
            guard earlier != nil else { return }
            configuration.tell("'\(configuration.folder)' is locked now: no other service can use the journal")
        } else if earlier == nil, let warning = lock.warning {
            configuration.tell(warning)
        }
    }

    /// Takes the stored counters, to which those of this run are added.
    private mutating func take(_ totals: EventTotals) {
        // Another service may have added to them while this one could not use the journal.
        let others = earlier.map { $0 + totals.growth(since: stored) } ?? totals
        (earlier, stored) = (others, totals)
        restore?(others)
        restore = nil
    }

    private func setAside() -> Bool {
        do {
            try Self.setAside(configuration.folder, configuration.tell)
            return true
        } catch {
            return false
        }
    }

    /// Renames a damaged database, so that an empty one takes its place; the one that was set aside before is removed.
    private static func setAside(_ folder: String, _ tell: @Sendable (String) -> Void) throws {
        let path = "\(folder)/\(JournalSchema.fileName)"
        for end in ["", "-wal", "-shm"] {
            guard rename(path + end, path + ".damaged" + end) == 0 || errno == ENOENT else {
                throw StoreError("set the damaged journal aside", path, errno: errno)
            }
        }
        tell("the journal was damaged: it is kept as '\(path).damaged', and a new one begins")
    }
}
