import CommandLineSupport
import DurableStore
import FleetCore
import LinuxSystem
import Locking
import NetwatchCore
import ReachabilityCore

/// Stores what a viewer receives, on a thread of its own, so that a slow disk holds up neither the screen nor the broker.
///
/// Everything that waits is stored in one transaction. Messages are acknowledged once they are stored; what can't be stored
/// stays in the queue, and the broker sends no more than the receive maximum until it is.
///
/// `@unchecked Sendable`: `database` is used by the thread only, and before it starts.
final class FleetStore: @unchecked Sendable {
    /// A message, and how it was received.
    struct Entry: Sendable {
        let report: NodeReport
        let delivery: Delivery
    }

    private struct Queue {
        var entries: [Entry] = []
        /// The number of messages at QoS 1 that are acknowledged once the entries are stored.
        var received: UInt64 = 0
        var failure: String?
        var isClosed = false
    }

    /// The path of the file.
    let path: String
    private let database: FleetDatabase
    private let lock: FileLock
    private let limits: FleetDatabase.Limits
    private let queue = Lock(Queue())
    private let thread = SystemThread()
    private let wakeup: Wakeup

    /// The time after which a write that failed is tried again.
    private static let retryInterval = Duration.seconds(5)
    private static let pruningInterval = Duration.seconds(3_600)

    /// Opens or creates a store, whose thread is not started.
    ///
    /// - Throws: The error for the user; for a file that another process uses, too.
    init(at path: String, limits: FleetDatabase.Limits = .init()) throws(ToolError) {
        (self.path, self.limits) = (path, limits)
        wakeup = try Wakeup.open()
        do throws(StoreError) {
            lock = try FileLock(at: path + ".lock")
            guard try lock.tryLock() else { throw .init(.busy, path, "another 'netwatch fleet' uses it") }
            database = try FleetDatabase(at: path)
            try database.prune(limits, at: SystemClock.wall)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Reads what was received from a moment on; to be called before the thread starts.
    func read(from start: Timestamp, limit: Int, _ body: (Entry) -> Void) throws(ToolError) {
        do throws(StoreError) {
            try database.read(from: start, limit: limit, body)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Returns the name of the session with a broker; to be called before the thread starts.
    func clientID(of source: String) throws(ToolError) -> String {
        do throws(StoreError) { return try database.clientID(of: source) } catch { throw Self.failure(error, path) }
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - stored: Called with the number of messages at QoS 1 that are stored, on the thread.
    ///   - failed: Called when writing fails, and with nil when it works again, on the thread.
    /// - Throws: The errno of pthread_create(3).
    func start(
        stored: @escaping @Sendable (UInt64) -> Void,
        failed: @escaping @Sendable (String?) -> Void
    ) throws(SystemError) {
        try thread.start("fleet-store") { [self] in run(stored, failed) }
    }

    /// Queues messages.
    ///
    /// - Parameters:
    ///   - entries: The messages.
    ///   - received: The number of messages at QoS 1 that were received until then.
    func append(_ entries: [Entry], received: UInt64) {
        let isNew = queue.withLock { queue in
            queue.entries += entries
            defer { queue.received = received }
            return queue.received != received || !entries.isEmpty
        }
        if isNew { wakeup.signal() }
    }

    /// Stores what is queued, and ends the thread; waits for that.
    func close() {
        queue.withLock { $0.isClosed = true }
        wakeup.signal()
        thread.waitForEnd()
    }

    private static func failure(_ error: StoreError, _ path: String) -> ToolError {
        let status: ExitStatus =
            switch error.code {
            case .damaged, .newerSchema: .badData
            case .notPermitted: .notPermitted
            default: .outputFailure
            }
        let name = path.escapedForTerminal
        let reason = error.reason.escapedForTerminal
        return .init("cannot use the store '\(name)': \(reason); name another --store", exit: status)
    }
}

// MARK: - On the thread

extension FleetStore {
    private func run(_ stored: (UInt64) -> Void, _ failed: (String?) -> Void) {
        var nextPruning = SystemClock.now.advanced(by: Self.pruningInterval)
        var retry: Instant?
        while true {
            wakeup.wait(until: min(retry ?? nextPruning, nextPruning))
            wakeup.clear()
            let (entries, received, isClosed) = queue.withLock { ($0.entries, $0.received, $0.isClosed) }
            let failure = store(entries, &nextPruning)
            retry = failure == nil ? nil : SystemClock.now.advanced(by: Self.retryInterval)
            if note(failure) { failed(failure) }
            if failure == nil { stored(received) }
            if isClosed { return }
        }
    }

    /// Stores entries, and removes them from the queue; returns why it failed.
    private func store(_ entries: [Entry], _ nextPruning: inout Instant) -> String? {
        do {
            if !entries.isEmpty { try database.insert(entries) }
            queue.withLock { $0.entries.removeFirst(entries.count) }
            let now = SystemClock.now
            guard now >= nextPruning else { return nil }
            nextPruning = now.advanced(by: Self.pruningInterval)
            try database.prune(limits, at: SystemClock.wall)
            return nil
        } catch {
            let reason = (error as? StoreError).map { "\($0.reason); \($0.advice)" } ?? "\(error)"
            return "cannot write the store '\(path)': \(reason)"
        }
    }

    /// Whether the failure differs from the last one.
    private func note(_ failure: String?) -> Bool {
        queue.withLock { queue in
            defer { queue.failure = failure }
            return queue.failure != failure
        }
    }
}
