import Locking
import ReachabilityCore
import Synchronization

/// The watched destinations; outlives the runs of an engine.
final class WatchRegistry: Sendable {
    private let state = Lock<State>(.init())
    private let changes = Atomic<UInt64>(0)

    /// One watch.
    struct Entry: Sendable {
        let id: UInt64
        /// The addresses whose own routes are to be received.
        let destinations: [IPAddress]
        let interest: Interest
    }

    /// The changes that a watch reports, on the event thread.
    enum Interest: Sendable {
        /// The path to the destination, whenever it changes.
        case path(@Sendable (DestinationPath) -> Void)
        /// That any lookup may give another result than before.
        case change(@Sendable () -> Void)
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var last: UInt64 = 0
    }

    /// A number that changes whenever the entries do.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// The entries in the order in which they were added.
    var entries: [Entry] { state.withLock { $0.entries.values.sorted { $0.id < $1.id } } }

    /// Adds an entry, and returns its number.
    func add(_ destinations: [IPAddress], _ interest: Interest) -> UInt64 {
        let id = state.withLock { state in
            state.last += 1
            state.entries[state.last] = .init(id: state.last, destinations: destinations, interest: interest)
            return state.last
        }
        changes.wrappingAdd(1, ordering: .releasing)
        return id
    }

    /// Removes an entry.
    func remove(_ id: UInt64) {
        let removed = state.withLock { $0.entries.removeValue(forKey: id) }
        // What the body holds is released here, after the lock.
        if removed != nil { changes.wrappingAdd(1, ordering: .releasing) }
    }

    /// Whether an entry is still there.
    func contains(_ id: UInt64) -> Bool { state.withLock { $0.entries[id] != nil } }
}
