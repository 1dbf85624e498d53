import CSQLite
import Glibc
import LinuxSystem
import Locking
import ReachabilityCore

/// A SQLite database in a folder that several processes share, with synchronized group commits.
///
/// Writes of many tasks are committed together: each returns once its rows are on disk, and the cost of the
/// synchronization is shared. Each write is atomic: if its closure throws, its changes are undone, and the other writes
/// of the group are kept. All SQLite calls happen on one thread.
///
/// The writers of all processes queue for `commit.lock`, which is exclusive, rather than for SQLite's own lock, whose
/// waiting sleeps. Checkpoints happen under the same lock (docs/decisions/0014-durable-storage.md).
package final class DurableStore: Sendable {
    /// The files of a store.
    package struct Files: Sendable {
        /// The folder.
        package let folder: String
        /// The name of the database's file.
        package let name: String

        package init(folder: String, name: String) {
            self.folder = folder
            self.name = name
        }

        /// The path of the database.
        package var database: String { "\(folder)/\(name)" }
        /// The path of the lock that each commit holds.
        package var commitLock: String { "\(folder)/commit.lock" }
        /// The path of the marker that tells an unclean boot.
        var usage: String { "\(folder)/in-use" }
        /// The path of the file whose space is kept for a full disk.
        var reserve: String { "\(folder)/reserve" }
    }

    /// The properties of a store.
    package struct Options: Sendable {
        /// The statements that lead from each version of the schema to the next.
        package var migrations: [String]
        /// The number of writes after which a group is committed.
        package var largestGroup = 1_024
        /// The size in bytes of the write-ahead log from which it is copied into the database.
        package var checkpointSize = 4 << 20
        /// Repairs a damaged database: called under the commit lock, when no connection is open.
        ///
        /// If it throws, the damaged database has to be in its place still.
        package var repair: (@Sendable (Files) throws -> Void)?
        /// Whether damage that is found while the database is open is repaired, and the write repeated; otherwise the write
        /// fails.
        package var repairsWhileOpen = false
        /// Creates the values that the closures of a transaction share; nil for none.
        package var makeContext: (@Sendable () -> any TransactionContext)?

        package init(migrations: [String]) { self.migrations = migrations }
    }

    /// The files.
    package let files: Files
    private let worker: StoreWorker

    /// Opens or creates a store; the folder must exist.
    ///
    /// - Parameters:
    ///   - files: The files.
    ///   - options: The properties.
    ///   - bootIdentifier: The identifier of the running system (`/proc/sys/kernel/random/boot_id`).
    /// - Throws: ``StoreError``.
    package init(_ files: Files, _ options: Options, bootIdentifier: String) throws(StoreError) {
        self.files = files
        worker = try StoreWorker(files, options, bootIdentifier)
        do throws(SystemError) {
            try worker.start()
        } catch {
            throw .init("start a thread", files.folder, errno: error.code)
        }
    }

    deinit { worker.close() }

    /// Runs a closure in a transaction, and returns when it is on disk.
    ///
    /// - Parameters:
    ///   - essential: Whether it may use the reserved space on a full disk: for outcomes, never for new data.
    ///   - body: The closure, called on the store's thread. It may be called again after the disk was full, or when another
    ///     write of the group has failed.
    /// - Returns: The closure's value.
    /// - Throws: The closure's error, or a ``StoreError``.
    @discardableResult
    package func write<Value: Sendable>(
        essential: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await submit(.write, essential, body)
    }

    /// Runs a closure in a transaction, and calls another when it is on disk.
    ///
    /// - Parameters:
    ///   - essential: As for ``write(essential:_:)``.
    ///   - body: The closure, as for ``write(essential:_:)``.
    ///   - completion: Called once with the closure's value, its error, or a ``StoreError``: on the store's thread, or, if
    ///     the store is closed, on the caller's before this returns.
    package func write<Value: Sendable>(
        essential: Bool = false,
        _ body: @escaping @Sendable (Database) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        submit(.write, essential, body, completion)
    }

    /// Runs a closure that only reads, in one snapshot of the database.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await submit(.read, false, body)
    }

    /// Queues a write without waiting until it is on disk; an error is dropped.
    package func writeLater(_ body: @escaping @Sendable (Database) throws -> Void) {
        submit(.write, true, body) { _ in }
    }

    /// Commits what is queued, and closes the database; waits for that.
    package func close() { worker.close() }

    private func submit<Value: Sendable>(
        _ kind: StoreJob.Kind,
        _ isEssential: Bool,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            submit(kind, isEssential, body) { continuation.resume(with: $0) }
        }
    }

    private func submit<Value: Sendable>(
        _ kind: StoreJob.Kind,
        _ isEssential: Bool,
        _ body: @escaping @Sendable (Database) throws -> Value,
        _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let job = StoreJob(kind: kind, isEssential: isEssential) { database in
            let value = try body(database)
            return { completion(.success(value)) }
        } fail: {
            completion(.failure($0))
        }
        worker.enqueue(job)
    }
}

/// A closure that waits for its turn on the store's thread.
struct StoreJob: Sendable {
    enum Kind { case read, write }

    let kind: Kind
    let isEssential: Bool
    /// Runs the closure, and returns what is to be called after the commit.
    let perform: @Sendable (Database) throws -> @Sendable () -> Void
    /// Called if nothing was stored.
    let fail: @Sendable (any Error) -> Void
}

/// The thread of a store, and the queue before it.
///
/// `@unchecked Sendable`: `database` and `identity` are used by the thread only, and before it starts.
private final class StoreWorker: @unchecked Sendable {
    private struct Queue {
        var jobs: [StoreJob] = []
        var isClosed = false
    }

    private let files: DurableStore.Files
    private let options: DurableStore.Options
    private let queue = Lock(Queue())
    private let thread = SystemThread()
    private let wakeup: Wakeup
    private let lock: FileLock
    private let usage: UsageMarker
    private let reserve: ReserveFile
    private var database: Database?
    private var identity: FileIdentity?

    init(
        _ files: DurableStore.Files,
        _ options: DurableStore.Options,
        _ bootIdentifier: String
    ) throws(StoreError) {
        (self.files, self.options) = (files, options)
        try LocalFolder.check(files.folder)
        do throws(SystemError) {
            wakeup = try Wakeup()
        } catch {
            throw .init("make an eventfd", files.folder, errno: error.code)
        }
        lock = try FileLock(at: files.commitLock)
        usage = try UsageMarker(at: files.usage, bootIdentifier)
        reserve = ReserveFile(at: files.reserve)
        try lock.lock()
        defer { lock.unlock() }
        try openChecked()
        // Only now: damage that could not be repaired is looked for again.
        usage.begin()
    }

    func start() throws(SystemError) {
        try thread.start("durable-store") { [self] in run() }
    }

    func enqueue(_ job: StoreJob) {
        let (isClosed, isFirst) = queue.withLock { queue in
            if !queue.isClosed { queue.jobs.append(job) }
            return (queue.isClosed, queue.jobs.count == 1)
        }
        if isClosed { return job.fail(StoreError(.closed, files.database, "the store was closed")) }
        // The thread takes what is queued behind the first, without another signal.
        if isFirst { wakeup.signal() }
    }

    func close() {
        queue.withLock { $0.isClosed = true }
        wakeup.signal()
        thread.waitForEnd()
    }

    // MARK: On the thread

    private func run() {
        while true {
            wakeup.wait(until: .init(nanoseconds: .max))
            wakeup.clear()
            while case (let group, let isClosed) = next(), !group.isEmpty || isClosed {
                if group.isEmpty { return end() }
                process(group)
            }
        }
    }

    private func next() -> (group: [StoreJob], isClosed: Bool) {
        queue.withLock { queue in
            if queue.jobs.count <= options.largestGroup {
                var group: [StoreJob] = []
                swap(&group, &queue.jobs)
                return (group, queue.isClosed)
            }
            let group = Array(queue.jobs.prefix(options.largestGroup))
            queue.jobs.removeFirst(group.count)
            return (group, queue.isClosed)
        }
    }

    private func end() {
        database = nil
        usage.release()
    }

    /// Runs a group in one transaction; if the disk is full, each of its jobs in a transaction of its own; if the
    /// database is damaged, once more after its repair.
    private func process(_ group: [StoreJob], isRepaired: Bool = false, hasMadeSpace: Bool = false) {
        do {
            let completions = try commit(group)
            for completion in completions { completion() }
            checkpointIfLarge()
        } catch let error as StoreError where error.code == .full && group.count > 1 {
            for job in group { process([job]) }
        } catch let error as StoreError where error.code == .full && !hasMadeSpace && makeSpace(for: group) {
            process(group, isRepaired: isRepaired, hasMadeSpace: true)
        } catch let error as StoreError where error.code == .damaged && !isRepaired && repairDamage() {
            process(group, isRepaired: true)
        } catch {
            if (error as? StoreError)?.needsReopening == true { database = nil }
            for job in group { job.fail(error) }
        }
    }

    /// Makes space on a full disk for jobs that lead to more of it: the reserved space, and that of the log, which begins
    /// again when all of it has been copied into the database.
    ///
    /// - Returns: Whether there may be more than before.
    private func makeSpace(for group: [StoreJob]) -> Bool {
        guard group.allSatisfy(\.isEssential), (try? lock.lock()) != nil else { return false }
        defer { lock.unlock() }
        let isReleased = reserve.release()
        let isCopied = (try? database?.checkpoint()) != nil
        return isReleased || isCopied
    }

    private func commit(_ group: [StoreJob]) throws -> [() -> Void] {
        let writes = group.contains { $0.kind == .write }
        if !writes, let database = current { return try transaction(group, "BEGIN", database) }
        try lock.lock()
        defer { lock.unlock() }
        let completions = try transaction(group, writes ? "BEGIN IMMEDIATE" : "BEGIN", try opened())
        if writes { lock.touch() }
        return completions
    }

    /// Runs a group in one transaction.
    ///
    /// Savepoints copy each page once more that a job changes: only a group in which a job has failed is run again with
    /// them. A group of one job needs none.
    private func transaction(
        _ group: [StoreJob],
        _ begin: String,
        _ database: Database,
        hasSavepoints: Bool = false
    ) throws -> [() -> Void] {
        try database.run(begin)
        database.context = options.makeContext?()
        do {
            let completions = try group.map {
                try hasSavepoints ? perform($0, database) : $0.perform(database)
            }
            try database.context?.store(in: database)
            try database.run("COMMIT")
            return completions
        } catch {
            database.rollBack()
            let isOfJob = (error as? StoreError)?.endsGroup != true
            guard isOfJob, group.count > 1, !hasSavepoints else { throw error }
            return try transaction(group, begin, database, hasSavepoints: true)
        }
    }

    /// Runs a job in a savepoint, so that its error does not undo the others.
    private func perform(_ job: StoreJob, _ database: Database) throws -> () -> Void {
        if job.kind == .write { try database.run("SAVEPOINT job") }
        let context = database.context?.copy()
        do {
            let completion = try job.perform(database)
            if job.kind == .write { try database.run("RELEASE job") }
            return completion
        } catch {
            if (error as? StoreError)?.endsGroup == true { throw error }
            if job.kind == .write {
                try database.run("ROLLBACK TO job")
                try database.run("RELEASE job")
                database.context = context
            }
            return { job.fail(error) }
        }
    }

    /// Copies a large log into the database, after its writers have continued; a failure only delays that.
    ///
    /// On a full disk it does so with a log of any size, so that the log begins again and does not use up what is left.
    private func checkpointIfLarge() {
        var status = stat()
        guard stat(files.database + "-wal", &status) == 0,
            status.st_size > options.checkpointSize || !reserve.isAllocated, (try? lock.lock()) != nil
        else { return }
        defer { lock.unlock() }
        try? database?.checkpoint()
        reserve.allocate()
    }

    // MARK: Opening

    /// The connection; nil after an error that closed it, and if another process has set a damaged file aside.
    private var current: Database? { identity == FileIdentity(files.database) ? database : nil }

    /// Returns the connection; opens it if there is none, after a replacement that another process has begun.
    ///
    /// The caller holds the commit lock.
    private func opened() throws(StoreError) -> Database {
        if let current { return current }
        database = nil
        try StoreReplacement(of: files).finish()
        let database = try Database(at: files.database)
        try database.migrate(options.migrations)
        identity = FileIdentity(files.database)
        self.database = database
        return database
    }

    /// Repairs a database in which damage was found while it was open.
    ///
    /// - Returns: Whether that succeeded, here or in another process.
    private func repairDamage() -> Bool {
        guard options.repairsWhileOpen, let repair = options.repair, (try? lock.lock()) != nil else { return false }
        defer { lock.unlock() }
        database = nil
        if identity != FileIdentity(files.database) { return true }
        return (try? repair(files)) != nil
    }

    /// Opens the database; on a full disk with the reserved space, which its shared memory needs.
    private func openedWithReserve() throws(StoreError) -> Database {
        do throws(StoreError) {
            return try opened()
        } catch {
            guard error.code == .full || error.code == .ioFailed, reserve.release() else { throw error }
            return try opened()
        }
    }

    /// Opens the database; checks it after an unclean boot, and repairs it if it is damaged.
    private func openChecked() throws(StoreError) {
        do throws(StoreError) {
            let database = try openedWithReserve()
            guard usage.wasUnclean else { return }
            let problems = try database.quickCheck()
            if let first = problems.first { throw StoreError(.damaged, files.database, "damaged: \(first)") }
        } catch {
            database = nil
            guard error.code == .damaged, let repair = options.repair else { throw error }
            do {
                try repair(files)
            } catch let failure as StoreError {
                throw failure
            } catch let failure {
                throw .init(.damaged, files.database, "the repair failed: \(failure)")
            }
            _ = try opened()
        }
    }
}

/// The inode of a file.
private struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
    }
}

extension StoreError {
    /// Whether the connection must be closed: after an error of fsync(2) the kernel's pages are not what is on disk.
    fileprivate var needsReopening: Bool { code == .ioFailed || code == .damaged || code == .cannotOpen }
}

/// A marker that is left behind if the system stopped while a store was open.
private final class UsageMarker: Sendable {
    /// Whether the system was stopped before the store was closed.
    let wasUnclean: Bool
    private let lock: FileLock
    private let bootIdentifier: String

    init(at path: String, _ bootIdentifier: String) throws(StoreError) {
        self.bootIdentifier = bootIdentifier
        lock = try FileLock(at: path)
        try lock.lock(shared: true)
        let contents = lock.contents
        wasUnclean = !contents.isEmpty && contents != Self.clean && contents != bootIdentifier
    }

    /// Leaves the marker behind from now on.
    func begin() {
        // A full disk must not keep the store closed.
        if lock.contents != bootIdentifier { try? lock.write(bootIdentifier) }
    }

    /// The contents after all processes have closed the store; not empty, so that the file keeps its block.
    private static let clean = "closed"

    /// Removes the marker, if no other process has the store open.
    func release() {
        lock.unlock()
        if (try? lock.tryLock()) == true { try? lock.write(Self.clean) }
        lock.unlock()
    }
}

/// The demands on a store's folder.
package enum LocalFolder {
    /// Creates a folder with the mode 0700 if it is missing, and synchronizes the folder that it is in: its name must be
    /// on disk before anything in it is.
    package static func create(_ path: String) throws(StoreError) {
        guard mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { return }
            throw .init("create the folder", path, errno: errno)
        }
        let parent = open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if parent >= 0 { close(parent) } }
        // A folder that may be written and not read can't be opened.
        guard parent < 0 || fsync(parent) == 0 || errno == EINVAL else {
            throw .init("synchronize the folder of", path, errno: errno)
        }
    }

    /// The magic numbers of network file systems (statfs(2)): NFS, SMB, CIFS, SMB2, AFS, Ceph.
    private static let remote: Set<Int> = [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x5346_414F, 0x00C3_6400]

    /// Throws if a folder is missing, or on a network file system, whose locks and memory maps SQLite can't rely on.
    static func check(_ path: String) throws(StoreError) {
        var status = statfs()
        guard statfs(path, &status) == 0 else { throw .init("open the folder", path, errno: errno) }
        if remote.contains(Int(status.f_type)) {
            throw .init(.cannotOpen, path, "the folder is on a network file system, whose locks can't be relied on")
        }
    }
}
