import NIOCore
import Reachability
import ReachabilityCore
import Synchronization

/// A delay before a reconnection, which ends early when the path is lost or the task is cancelled, and after some errors
/// with any change of the network.
///
/// The invalidation of the session ends it too.
///
/// When the path is lost, the reconnection does not wait for the rest of the delay but for the path, at the gate, and so
/// is sent as soon as the path is back.
///
/// Unchecked, because everything except constants is used on the session's event loop only.
final class ReconnectDelay: @unchecked Sendable {
    private let core: SessionCore
    private let pause: ReconnectPause
    private var continuation: CheckedContinuation<Void, Never>?
    private var timer: Scheduled<Void>?
    private var watch: (any ConnectivityWatch)?
    private var isOver = false

    /// Creates a delay.
    ///
    /// - Parameters:
    ///   - core: The part of the session that is on the event loop.
    ///   - pause: Its maximum duration, and what ends it.
    init(_ core: SessionCore, _ pause: ReconnectPause) {
        self.core = core
        self.pause = pause
    }

    /// Waits until the delay has ended.
    func wait() async {
        guard pause.delay > .zero else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                core.loop.execute { [self] in begin(continuation) }
            }
        } onCancel: {
            core.loop.execute { [self] in end() }
        }
    }

    private func begin(_ continuation: CheckedContinuation<Void, Never>) {
        // A cancellation may have arrived first. An invalidated session connects no more, and its error must not wait.
        guard !isOver, !core.isClosing else { return continuation.resume() }
        self.continuation = continuation
        core.reconnectDelays[ObjectIdentifier(self)] = self
        timer = core.loop.assumeIsolated().scheduleTask(in: .init(pause.delay)) { [self] in end() }
        guard pause.gateKey != nil else { return }
        watch = core.connectivity.watch([]) { [weak self, loop = core.loop] in
            loop.execute { [weak self] in self?.networkChanged() }
        }
        networkChanged()
    }

    private func networkChanged() {
        if pause.change?.hasHappened == true { end() } else { checkPath() }
    }

    /// Ends the delay if the gate is closed.
    private func checkPath() {
        guard let key = pause.gateKey, !isOver, !core.isClosing else { return }
        if case .closed = core.gate.keeper.verdict(for: key) { end() }
    }

    /// Ends the delay; called on the event loop.
    func end() {
        isOver = true
        core.reconnectDelays[ObjectIdentifier(self)] = nil
        timer?.cancel()
        watch?.cancel()
        (timer, watch) = (nil, nil)
        guard let waiting = continuation else { return }
        continuation = nil
        waiting.resume()
    }
}

/// The next change of the network after a number of others.
struct NetworkChange: Sendable {
    private let network: NetworkChanges
    private let count: Int

    /// Creates the change.
    ///
    /// - Parameters:
    ///   - network: The changes of the network.
    ///   - count: The number of changes before this one.
    init(of network: NetworkChanges, after count: Int) {
        self.network = network
        self.count = count
    }

    /// Whether it has happened.
    var hasHappened: Bool { network.count != count }
}

/// Counts the changes of the network, as long as it is retained.
final class NetworkChanges: Sendable {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    private let counter: Counter
    private let watch: any ConnectivityWatch

    init(_ core: SessionCore) {
        let counter = Counter()
        self.counter = counter
        watch = core.connectivity.watch([]) { counter.count.add(1, ordering: .relaxed) }
    }

    deinit { watch.cancel() }

    /// The number of changes so far.
    var count: Int { counter.count.load(ordering: .relaxed) }
}
