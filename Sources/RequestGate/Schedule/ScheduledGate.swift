/// What the scheduler knows of one gate: a host under one requirement.
struct ScheduledGate: Sendable {
    let host: Int32
    var isOpen: Bool
    var lists = WaitingLists()
    /// How many requests of this gate there are, wherever they are.
    var requests = 0
    /// For how long it was closed until it was last opened, or its host proven, in nanoseconds.
    private var closed: Int64 = 0
    /// Since when it is closed, or its host not proven; nil while neither.
    private var since: BootInstant?

    init(host: Int32, isOpen: Bool, at now: BootInstant) {
        self.host = host
        self.isOpen = isOpen
        since = isOpen ? nil : now
    }

    /// Whether waiting here counts as waiting for a path.
    var isCounting: Bool { since != nil }

    /// For how long it was closed in all, in nanoseconds.
    func closedTime(at now: BootInstant) -> Int64 {
        closed + (since.map { max(0, now.nanoseconds - $0.nanoseconds) } ?? 0)
    }

    /// Begins or ends to count.
    mutating func count(_ counts: Bool, at now: BootInstant) {
        guard counts != isCounting else { return }
        closed = closedTime(at: now)
        since = counts ? now : nil
    }
}
