import CommandLineSupport
import DurableStore
import Glibc
import LinuxSystem
import Locking
import NetwatchCore
import Outbox

/// The work of `run` while an outbox sends: collecting the items of other users, and looking at the contents.
final class SendingWork: Sendable {
    /// The contents at one moment.
    struct Contents: Sendable {
        var statistics: OutboxStatistics
        var lanes: [LaneSummary]
    }

    private struct State {
        var contents: Contents?
        var isRequested = false
        var isDone = false
        var reported: String?
    }

    private let outbox: Outbox
    private let incoming: IncomingFolder
    private let wakeup: Wakeup
    private let once: Bool
    private let state = Lock(State())
    private let changes: AsyncStream<Void>.Continuation
    private let watch: FolderWatch?
    private let listener: Int

    /// Starts to look.
    ///
    /// - Parameters:
    ///   - outbox: The outbox.
    ///   - wakeup: Signaled when there is something new for the main thread.
    ///   - once: Whether the end of the work is looked for.
    init(_ outbox: Outbox, _ wakeup: Wakeup, once: Bool) {
        (self.outbox, self.wakeup, self.once) = (outbox, wakeup, once)
        let incoming = IncomingFolder(of: outbox.storage.folder)
        let (stream, changes) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.incoming = incoming
        self.changes = changes
        watch = incoming.isThere ? FolderWatch(incoming.path) { changes.yield() } : nil
        listener = outbox.listenForChanges { changes.yield() }
        Task { [weak self] in for await _ in stream { await self?.react() } }
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
        state.withLock { $0.isRequested = true }
        changes.yield()
    }

    /// Ends the watches.
    func end() {
        watch?.cancel()
        outbox.endListening(listener)
        changes.finish()
    }

    private func react() async {
        report(outbox.lastError?.reason)
        if incoming.isThere {
            for error in await incoming.collect(into: outbox.storage).errors { report(error.reason) }
        }
        let isRequested = state.withLock { state in
            defer { state.isRequested = false }
            return state.isRequested
        }
        do {
            if isRequested { try await readContents() }
            if once { try await findEnd() }
        } catch {
            report("\(error)")
        }
    }

    private func readContents() async throws {
        let contents = try await outbox.storage.store.read { database in
            Contents(statistics: try BoxStorage.statistics(database), lanes: try BoxStorage.summaries(database))
        }
        state.withLock { $0.contents = contents }
        wakeup.signal()
    }

    private func findEnd() async throws {
        guard try await !outbox.storage.store.read({ try BoxStorage.hasWork($0) }) else { return }
        state.withLock { $0.isDone = true }
        wakeup.signal()
    }

    /// Prints an error, unless it was the last one that was printed.
    private func report(_ error: String?) {
        guard let error, error != state.withLock({ $0.reported }) else { return }
        state.withLock { $0.reported = error }
        StandardError.note(error)
    }
}
