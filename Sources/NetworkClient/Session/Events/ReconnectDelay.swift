import NIOCore
import Reachability
import ReachabilityCore

/// A delay before a reconnection, which ends early when the path is lost or the task is cancelled.
///
/// When the path is lost, the reconnection does not wait for the rest of the delay but for the path, at the gate, and so
/// is sent as soon as the path is back.
///
/// Unchecked, because everything except constants is used on the session's event loop only.
final class ReconnectDelay: @unchecked Sendable {
    private let core: SessionCore
    private let key: GateKey?
    private var continuation: CheckedContinuation<Void, Never>?
    private var timer: Scheduled<Void>?
    private var watch: (any ConnectivityWatch)?
    private var isOver = false

    /// Creates a delay.
    ///
    /// - Parameters:
    ///   - core: The part of the session that is on the event loop.
    ///   - key: The destination whose path is watched; nil for none.
    init(_ core: SessionCore, _ key: GateKey?) {
        self.core = core
        self.key = key
    }

    /// Waits at most as long as a delay.
    func wait(_ delay: Duration) async {
        guard delay > .zero else { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                core.loop.execute { [self] in begin(delay, continuation) }
            }
        } onCancel: {
            core.loop.execute { [self] in end() }
        }
    }

    private func begin(_ delay: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        // A cancellation may have arrived first.
        guard !isOver else { return continuation.resume() }
        self.continuation = continuation
        timer = core.loop.assumeIsolated().scheduleTask(in: .init(delay)) { [self] in end() }
        guard key != nil, !core.isClosing else { return }
        let connectivity = core.configuration.connectivity ?? ReachabilityMonitor.shared
        watch = connectivity.watch([]) { [weak self, loop = core.loop] in
            loop.execute { [weak self] in self?.checkPath() }
        }
        checkPath()
    }

    /// Ends the delay if the gate is closed.
    private func checkPath() {
        guard let key, !isOver, !core.isClosing else { return }
        if case .closed = core.dispatcher.keeper.verdict(for: key) { end() }
    }

    private func end() {
        isOver = true
        timer?.cancel()
        watch?.cancel()
        (timer, watch) = (nil, nil)
        guard let waiting = continuation else { return }
        continuation = nil
        waiting.resume()
    }
}
