import NIOCore
import ReachabilityCore
import Synchronization

/// Watches the network for changes while they matter.
///
/// Unchecked, because everything except constants and atomics is used on the event loop only.
final class ConnectivityObserver: @unchecked Sendable {
    private let connectivity: any Connectivity
    private let loop: any EventLoop
    /// The closure to call on the loop after a change.
    private let changed: () -> Void
    private var watch: (any ConnectivityWatch)?
    private var destinations: Set<IPAddress> = []
    private var willUpdate = false
    /// Whether a call on the loop is already scheduled; changes before it are coalesced.
    private let isPending = Atomic(false)

    /// The number of obsolete addresses that stay watched, because changing the set of watched addresses costs more.
    private static let slack = 64

    init(_ connectivity: any Connectivity, _ loop: any EventLoop, changed: @escaping () -> Void) {
        self.connectivity = connectivity
        self.loop = loop
        self.changed = changed
    }

    /// Whether the network is being watched.
    var isWatching: Bool { watch != nil }

    deinit { watch?.cancel() }

    /// Watches the network from now on, including the routes to these addresses.
    func need(_ addresses: some Sequence<IPAddress>) {
        let known = destinations.count
        destinations.formUnion(addresses)
        if watch == nil { return update() }
        guard destinations.count > known, !willUpdate else { return }
        // A caller that evaluates many keys in one turn needs one watch for all of them.
        willUpdate = true
        loop.execute { [weak self] in self?.updateIfNeeded() }
    }

    /// Stops watching.
    func end() {
        watch?.cancel()
        watch = nil
        destinations = []
        willUpdate = false
    }

    /// Stops watching addresses that are no longer needed.
    func keep(_ addresses: Set<IPAddress>) {
        guard watch != nil, destinations.count > addresses.count + Self.slack else { return }
        destinations = addresses
        update()
    }

    private func updateIfNeeded() {
        guard willUpdate else { return }
        update()
    }

    private func update() {
        willUpdate = false
        let earlier = watch
        watch = connectivity.watch(Array(destinations)) { [weak self] in self?.hear() }
        // The new watch is already active: no change is missed.
        earlier?.cancel()
    }

    /// Called on any thread.
    private func hear() {
        guard !isPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.execute { [weak self] in
            guard let self else { return }
            isPending.store(false, ordering: .releasing)
            guard watch != nil else { return }
            changed()
        }
    }
}
