import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import Outbox

/// The work of `run` while an outbox sends: collecting the items of other users, and looking at the contents.
///
/// The contents are read while items are collected, which may take long: that they can be read is the sign of life for a
/// service manager.
final class SendingWork: Sendable {
    /// The contents at one moment.
    struct Contents: Sendable {
        var statistics: OutboxStatistics
        var pausedLanes: [LaneSummary]
    }

    private struct State {
        var contents: Contents?
        var isDone = false
        var isEnded = false
        var reported: String?
        var collection: Task<Void, Never>?
    }

    private let outbox: Outbox
    private let collect: @Sendable () async -> [OutboxError]
    private let wakeup: Wakeup
    private let once: Bool
    private let state = Lock(State())
    private let changes: AsyncStream<Void>.Continuation
    private let looks: AsyncStream<Void>.Continuation
    private let watch: FolderWatch?
    private let listener: Int

    /// Starts to look.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - wakeup: Signaled when there is something new for the main thread.
    ///   - once: Whether the end of the work is looked for.
    ///   - collect: Collects the items of other users; nil for those in the outbox's own folder.
    init(_ outbox: Outbox, _ wakeup: Wakeup, once: Bool, collect: (@Sendable () async -> [OutboxError])? = nil) {
        (self.outbox, self.wakeup, self.once) = (outbox, wakeup, once)
        let incoming = IncomingFolder(of: outbox.storage.folder)
        self.collect = collect ?? { incoming.isThere ? await incoming.collect(into: outbox.storage).errors : [] }
        let (changeStream, changes) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (lookStream, looks) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.changes, self.looks) = (changes, looks)
        watch = incoming.isThere ? FolderWatch(incoming.path) { changes.yield() } : nil
        listener = outbox.listenForChanges { changes.yield() }
        Task { [weak self] in for await _ in lookStream { await self?.readContents() } }
        let collection = Task { [weak self] in for await _ in changeStream { await self?.react() } }
        state.withLock { $0.collection = collection }
    }

    /// Whether nothing is left that may be sent.
    var isDone: Bool { state.withLock { $0.isDone } }

    /// Returns the contents, if they were read since the last call.
    func takeContents() -> Contents? {
        state.withLock { state in
            defer { state.contents = nil }
            return state.contents
        }
    }

    /// Reads the contents, and wakes the main thread then; if the storage hangs, it does not.
    func look() {
        looks.yield()
        changes.yield()
    }

    /// Ends the watches.
    func end() {
        watch?.cancel()
        outbox.endListening(listener)
        changes.finish()
        looks.finish()
        let collection = state.withLock { state in
            state.isEnded = true
            return state.collection
        }
        collection?.cancel()
    }

    private func react() async {
        report(outbox.lastError?.reason)
        for error in await collect() { report(error.reason) }
        if once { await findEnd() }
    }

    private func readContents() async {
        await reporting { [outbox] in
            let contents = try await outbox.storage.store.read { database in
                Contents(
                    statistics: try BoxStorage.statistics(database),
                    pausedLanes: try BoxStorage.pausedLanes(database)
                )
            }
            self.state.withLock { $0.contents = contents }
            self.wakeup.signal()
        }
    }

    private func findEnd() async {
        await reporting { [outbox] in
            guard try await !outbox.storage.store.read({ try BoxStorage.hasWork($0) }) else { return }
            self.state.withLock { $0.isDone = true }
            self.wakeup.signal()
        }
    }

    private func reporting(_ body: () async throws -> Void) async {
        do { try await body() } catch { report("\(error)") }
    }

    /// Prints an error, unless it was the last one that was printed, or follows from the end.
    private func report(_ error: String?) {
        let isNew = state.withLock { state in
            guard let error, error != state.reported, !state.isEnded else { return false }
            state.reported = error
            return true
        }
        if let error, isNew { StandardError.note(error) }
    }
}
