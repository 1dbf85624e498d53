import NIOCore
import ReachabilityCore
import Synchronization

/// Hears of changes of the network, as long as somebody needs to know.
///
/// Unchecked, because what is not a constant or an atomic is touched on the event loop only.
final class ConnectivityEpochs: @unchecked Sendable {
    private let connectivity: any Connectivity
    private let loop: any EventLoop
    /// What to do on the loop after a change.
    private let changed: () -> Void
    private var watch: (any ConnectivityWatch)?
    private var destinations: Set<IPAddress> = []
    private var willUpdate = false
    /// Whether the loop is to be told already; changes until it is come as one.
    private let isPending = Atomic(false)

    /// Up to so many addresses too many are watched, since to watch others costs more.
    private static let slack = 64

    init(_ connectivity: any Connectivity, _ loop: any EventLoop, changed: @escaping () -> Void) {
        self.connectivity = connectivity
        self.loop = loop
        self.changed = changed
    }

    /// Whether changes are heard.
    var isWatching: Bool { watch != nil }

    deinit { watch?.cancel() }

    /// Watches from now on, and whatever could lead to these addresses soon.
    func need(_ addresses: some Sequence<IPAddress>) {
        let known = destinations.count
        destinations.formUnion(addresses)
        if watch == nil { return update() }
        guard destinations.count > known, !willUpdate else { return }
        // Anyone who judges many keys in one turn wants one watch for all.
        willUpdate = true
        loop.execute { [weak self] in self?.updateIfNeeded() }
    }

    /// Ends, if nobody needs to know.
    func end() {
        watch?.cancel()
        watch = nil
        destinations = []
        willUpdate = false
    }

    /// Forgets addresses that nobody needs any more.
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
        // The new one hears already: nothing is missed in between.
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
