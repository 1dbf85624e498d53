/// The hosts of a scheduler by name.
///
/// Each is kept while it has recorded failures, but not forever.
package struct HostRegister<Name: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: RequestScheduler.HostID
        /// When its last request ended.
        var lastEnded = BootInstant.never
    }

    private var entries: [Name: Entry] = [:]
    private var names: [RequestScheduler.HostID: Name] = [:]
    /// The number of hosts at which old ones are removed: twice as many as remained the last time, so that this stays
    /// cheap.
    private var limit = Self.minimumLimit

    /// The time without a request after which a host's failures are forgotten.
    private static var retentionTime: Duration { .seconds(600) }
    private static var minimumLimit: Int { 64 }

    /// Creates an empty register.
    package init() {}

    /// The number of hosts.
    package var count: Int { entries.count }

    /// The number of a host; nil if it is not registered.
    package subscript(name: Name) -> RequestScheduler.HostID? { entries[name]?.number }

    /// Returns the number of a host, and registers it if needed.
    package mutating func number(
        of name: Name,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) -> RequestScheduler.HostID {
        if let known = entries[name] { return known.number }
        if entries.count >= limit { evictOld(in: &scheduler, at: now) }
        let number = scheduler.addHost()
        entries[name] = Entry(number: number)
        names[number] = name
        return number
    }

    /// Removes a host that can be forgotten immediately; otherwise records when its last request ended.
    package mutating func release(
        _ number: RequestScheduler.HostID,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) {
        guard let name = names[number] else { return }
        entries[name]?.lastEnded = now
        guard scheduler.isForgettable(number) else { return }
        scheduler.forget(number)
        remove(name)
    }

    private mutating func evictOld(in scheduler: inout RequestScheduler, at now: BootInstant) {
        for (name, entry) in entries where entry.lastEnded.advanced(by: Self.retentionTime) <= now {
            if scheduler.evict(entry.number, at: now) { remove(name) }
        }
        limit = max(Self.minimumLimit, 2 * entries.count)
    }

    private mutating func remove(_ name: Name) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        names[entry.number] = nil
    }
}
