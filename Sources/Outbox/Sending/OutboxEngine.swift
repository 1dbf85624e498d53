import DurableStore
import LinuxSystem
import Locking
import NetworkClient
import Reachability

/// The activities of an open outbox: the watch for other processes' changes, the wait for the sender's lock, the sender.
final class OutboxEngine: Sendable {
    private struct State {
        var isStopped = false
        var lastError: OutboxError?
        var listeners: [Int: @Sendable () -> Void] = [:]
        var lastListener = 0
        var watch: ChangeWatch?
        var paths: (any ConnectivityWatch)?
        var running: Task<Void, Never>?
    }

    private let state = Lock(State())
    private let signal = Signal()
    private let sender: Sender
    private let lock: FileLock

    init(
        _ storage: BoxStorage,
        _ session: HTTPSession,
        _ credentials: CredentialLookup?,
        sends: Bool
    ) throws {
        lock = try FileLock(at: "\(storage.folder)/sender.lock")
        let errors = ErrorSlot()
        let connectivity = session.configuration.connectivity
        let path = { @Sendable in (connectivity ?? ReachabilityMonitor.shared).path }
        sender = Sender(storage, session, credentials, signal, .init(path: path)) { errors.set($0) }
        self.errors = errors
        let watch = try ChangeWatch(BoxStorage.files(of: storage.folder)) { [weak self] in self?.changed() }
        state.withLock { $0.watch = watch }
        if sends { try waitForLock(connectivity) }
    }

    private let errors: ErrorSlot

    var lastError: OutboxError? { errors.value }

    /// Calls a closure after each change of the outbox, by any process.
    func listen(_ body: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = body
            return state.lastListener
        }
    }

    func unlisten(_ number: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: number) } }

    /// Stops sending, and releases the lock.
    func stop(within limit: Duration?) async {
        let (running, watch, paths) = state.withLock { state in
            state.isStopped = true
            defer { (state.watch, state.paths) = (nil, nil) }
            return (state.running, state.watch, state.paths)
        }
        await sender.stop(within: limit)
        paths?.cancel()
        if let watch { _ = try? await BlockingWork.run { watch.cancel() } }
        await running?.value
        changed()
        lock.unlock()
    }

    /// Tells all who wait for a change.
    func changed() {
        signal.raise()
        for listener in state.withLock({ Array($0.listeners.values) }) { listener() }
    }

    /// Waits on a thread for the lock, which the kernel grants the moment its holder ends.
    ///
    /// The thread stays until then, also after the outbox was closed.
    private func waitForLock(_ connectivity: (any Connectivity)?) throws {
        let lock = lock
        try SystemThread.detach("outbox-lock", stackSize: 128 << 10) { [weak self] in
            guard (try? lock.lock()) != nil else { return }
            guard let self, begin(connectivity) else { return lock.unlock() }
        }
    }

    /// Begins to send; returns false if the outbox was closed.
    private func begin(_ connectivity: (any Connectivity)?) -> Bool {
        let paths = watchPaths(connectivity ?? ReachabilityMonitor.shared)
        let begins = state.withLock { state in
            if state.isStopped { return false }
            state.paths = paths
            state.running = Task { [sender] in await sender.run() }
            return true
        }
        if !begins { paths.cancel() }
        return begins
    }

    /// Ends the lanes' pauses when a path comes back or a better one appears.
    private func watchPaths(_ connectivity: any Connectivity) -> any ConnectivityWatch {
        let last = Lock(connectivity.status)
        let wasExpensive = Lock(connectivity.path.isExpensive)
        let compare: @Sendable () -> Void = { [sender] in
            let (status, isExpensive) = (connectivity.status, connectivity.path.isExpensive)
            if wasExpensive.withLock({ last in
                defer { last = isExpensive }
                return last != isExpensive
            }) {
                Task { await sender.costChanged() }
            }
            // The first known status says nothing about the time of a pause, which continues after a restart.
            let isBack = last.withLock { last in
                if status == .unknown { return false }
                defer { last = status }
                return status.isReachable && status != last && last != .unknown
            }
            if isBack { Task { await sender.pathReturned() } }
        }
        let watch = connectivity.watch([], compare)
        // The path may have changed before the watch began.
        compare()
        return watch
    }
}

/// The last error of a sender.
final class ErrorSlot: Sendable {
    private let slot = Lock<OutboxError?>(nil)

    var value: OutboxError? { slot.withLock { $0 } }

    func set(_ error: OutboxError) { slot.withLock { $0 = error } }
}
