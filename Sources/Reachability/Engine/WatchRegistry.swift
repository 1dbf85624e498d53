import Locking
import ReachabilityCore
import Synchronization

/// The destinations that are watched; outlives the runs of an engine.
final class WatchRegistry: Sendable {
    private let state = Lock<State>(.init())
    private let changes = Atomic<UInt64>(0)

    /// What somebody watches.
    struct Entry: Sendable {
        let id: UInt64
        /// The addresses whose own routes are to be heard.
        let destinations: [IPAddress]
        let interest: Interest
    }

    /// What whoever watches wants to know.
    enum Interest: Sendable {
        /// The way to the destination, whenever it is another.
        case path(@Sendable (DestinationPath) -> Void)
        /// That any look-up may give another answer than before.
        case change(@Sendable () -> Void)
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var last: UInt64 = 0
    }

    /// Another number whenever the entries are others.
    var version: UInt64 { changes.load(ordering: .acquiring) }

    /// The entries in the order in which they were added.
    var entries: [Entry] {
        state.withLock { $0.entries.values.sorted { $0.id < $1.id } }
    }

    /// Adds an entry and gives its number.
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

    /// Whether an entry is still wanted.
    func contains(_ id: UInt64) -> Bool { state.withLock { $0.entries[id] != nil } }
}
