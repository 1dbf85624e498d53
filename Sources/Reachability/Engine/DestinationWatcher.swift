import ReachabilityCore

/// Looks up the watched destinations anew after each change, on the event thread.
struct DestinationWatcher {
    private let registry: WatchRegistry
    private var entries: [WatchRegistry.Entry] = []
    private var known: [UInt64: DestinationPath] = [:]
    private var version: UInt64 = 0
    private var isStale = false
    private var next: Instant?
    private var last = Instant(nanoseconds: 0)
    /// How many times in a row they were looked up without a pause.
    private var streak = 0
    /// What the machine knew when it was seen last.
    private var revision: UInt64 = 0

    /// While changes storm, the destinations are looked up no more often than this.
    private static let interval = Duration.milliseconds(5)
    /// A link that comes up makes a few changes in a row, of which the last counts: those are no storm yet.
    private static let patience = 4
    /// After such a pause a storm is over.
    private static let lull = Duration.milliseconds(20)

    init(_ registry: WatchRegistry) {
        self.registry = registry
    }

    /// The addresses to hear of.
    var destinations: Set<IPAddress> { Set(entries.flatMap(\.destinations)) }

    /// When to look them up though nothing is received.
    var deadline: Instant? { isStale && !entries.isEmpty ? next : nil }

    /// Whether something is to be looked up, now or soon.
    var isDue: Bool { isStale && !entries.isEmpty }

    /// Notes that routes may be others now.
    mutating func invalidate() { isStale = true }

    /// Sees whether the machine knows more than before, wherever it has it from.
    mutating func note(revision: UInt64) {
        if revision != self.revision { isStale = true }
        self.revision = revision
    }

    /// Takes the registry's entries as they are now; tells whether they are others than before.
    mutating func refresh() -> Bool {
        let version = registry.version
        guard version != self.version else { return false }
        self.version = version
        entries = registry.entries
        let wanted = Set(entries.map(\.id))
        known = known.filter { wanted.contains($0.key) }
        isStale = true
        next = nil
        return true
    }

    /// The entries to look up now.
    mutating func takeDue(at now: Instant) -> [WatchRegistry.Entry] {
        guard isStale, !entries.isEmpty, next.map({ $0 <= now }) ?? true else { return [] }
        isStale = false
        streak = last.duration(to: now) < Self.lull ? streak + 1 : 1
        last = now
        next = streak < Self.patience ? nil : now.advanced(by: Self.interval)
        return entries
    }

    /// Whether whoever watches is to be told of a path: it is another than before, and they still watch.
    mutating func learn(_ path: DestinationPath, for entry: WatchRegistry.Entry) -> Bool {
        guard known[entry.id] != path, isWatched(entry) else { return false }
        known[entry.id] = path
        return true
    }

    /// Whether somebody still watches.
    func isWatched(_ entry: WatchRegistry.Entry) -> Bool { registry.contains(entry.id) }

    /// Those who are to be told of any change.
    var listeners: [WatchRegistry.Entry] { entries.filter { if case .change = $0.interest { true } else { false } } }
}
