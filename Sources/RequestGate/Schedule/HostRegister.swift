/// The hosts that a scheduler knows, by name: each is kept while something is held against it, but not for ever.
public struct HostRegister<Name: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        let number: RequestScheduler.HostID
        /// When its last request left.
        var left = BootInstant.never
    }

    private var entries: [Name: Entry] = [:]
    private var names: [RequestScheduler.HostID: Name] = [:]
    /// With so many, those are looked for that can be forgotten; twice as many as stayed, so that looking costs little.
    private var limit = Self.fewest

    /// After so long without a request nothing that a host did counts any more.
    private static var memory: Duration { .seconds(600) }
    private static var fewest: Int { 64 }

    /// Makes an empty one.
    public init() {}

    /// How many there are.
    public var count: Int { entries.count }

    /// The number of a host, if it is known.
    public subscript(name: Name) -> RequestScheduler.HostID? { entries[name]?.number }

    /// The number of a host, which is added if it is not known.
    public mutating func number(
        of name: Name,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) -> RequestScheduler.HostID {
        if let known = entries[name] { return known.number }
        if entries.count >= limit { forgetOld(in: &scheduler, at: now) }
        let number = scheduler.addHost()
        entries[name] = Entry(number: number)
        names[number] = name
        return number
    }

    /// Forgets a host that can be forgotten at once; of another one it is noted when its last request left.
    public mutating func leave(
        _ number: RequestScheduler.HostID,
        in scheduler: inout RequestScheduler,
        at now: BootInstant
    ) {
        guard let name = names[number] else { return }
        entries[name]?.left = now
        guard scheduler.isForgettable(number) else { return }
        scheduler.forget(number)
        remove(name)
    }

    private mutating func forgetOld(in scheduler: inout RequestScheduler, at now: BootInstant) {
        for (name, entry) in entries where entry.left.advanced(by: Self.memory) <= now {
            if scheduler.forgive(entry.number, at: now) { remove(name) }
        }
        limit = max(Self.fewest, 2 * entries.count)
    }

    private mutating func remove(_ name: Name) {
        guard let entry = entries.removeValue(forKey: name) else { return }
        names[entry.number] = nil
    }
}
