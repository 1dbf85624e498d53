import NIOCore
import RequestGate
import Synchronization

/// Watches the validation of the path while requests wait for it.
///
/// Unchecked, because everything except constants and atomics is used on the event loop only.
final class ValidationObserver: @unchecked Sendable {
    private let source: any PathValidation
    private let loop: any EventLoop
    /// The closure to call on the loop after a change.
    private let changed: () -> Void
    private var watch: (any ConnectivityWatch)?
    /// The number of keys that requests wait for.
    private var count = 0
    /// Whether a call on the loop is already scheduled; changes before it are coalesced.
    private let isPending = Atomic(false)

    init(_ source: any PathValidation, _ loop: any EventLoop, changed: @escaping () -> Void) {
        self.source = source
        self.loop = loop
        self.changed = changed
    }

    deinit { watch?.cancel() }

    /// Returns what requests to a key wait for; nil if they may start.
    func obstacle(for key: GateKey) -> GateObstacle? {
        ValidationTable.obstacle(key.needsValidation ? .validated : .any, source.validationStatus)
    }

    /// Counts a key that requests wait for, and watches from the first one on.
    func hold() {
        count += 1
        guard watch == nil else { return }
        watch = source.watchValidation { [weak self] in self?.hear() }
        // For a change since the key was evaluated.
        hear()
    }

    /// Stops counting a key, and watching after the last one.
    func letGo() {
        count -= 1
        if count == 0 { end() }
    }

    /// Stops watching.
    func end() {
        watch?.cancel()
        (watch, count) = (nil, 0)
    }

    /// Called on any thread.
    private func hear() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.execute { [weak self] in
            guard let self else { return }
            isPending.store(false, ordering: .releasing)
            if watch != nil { changed() }
        }
    }
}
