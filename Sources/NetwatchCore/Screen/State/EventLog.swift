import ReachabilityCore

/// The newest changes, and which of them are shown.
struct EventLog: Sendable {
    private let paths: PathWords
    /// The oldest first.
    private var entries: [LogEntry] = []
    /// The serial of the entry that comes next.
    private var nextSerial = 0
    /// The serials of those that the filter lets through, in order; nil without filter.
    private var matching: [Int]?
    /// While the log is paused, only entries before this serial are shown.
    private var pauseSerial: Int?
    /// The words that entries must have.
    private(set) var filter = ""

    init(_ paths: PathWords) { self.paths = paths }

    /// How many changes are kept at most, and a tenth more.
    static let capacity = 10_000

    /// Whether later changes wait.
    var isPaused: Bool { pauseSerial != nil }

    /// How many changes are kept.
    var count: Int { entries.count }

    /// How many are shown.
    var shownCount: Int { position(of: pauseSerial ?? nextSerial) }

    /// The number of matching events since the log was paused.
    var heldCount: Int { position(of: nextSerial) - shownCount }

    /// One that is shown, by its place: 0 is the newest.
    func shown(_ place: Int) -> LogEntry? {
        let position = shownCount - 1 - place
        guard place >= 0, position >= 0 else { return nil }
        guard let matching else { return entries[position] }
        return entries[matching[position] - firstSerial]
    }

    /// The place of an entry among those that are shown: 0 is the newest; nil if it is not.
    func place(of serial: Int) -> Int? {
        let position = position(of: serial)
        let place = shownCount - 1 - position
        return shown(place)?.serial == serial ? place : nil
    }

    /// Takes a change.
    ///
    /// - Returns: Whether it is shown immediately.
    mutating func append(_ change: ReachabilityChange, latency: Duration?, time: LocalTime) -> Bool {
        let entry = LogEntry(serial: nextSerial, change, latency: latency, time: time, paths)
        entries.append(entry)
        nextSerial += 1
        if entries.count > Self.capacity + Self.capacity / 10 { dropOldest() }
        guard matching != nil else { return !isPaused }
        guard entry.matches(words) else { return false }
        matching?.append(entry.serial)
        return !isPaused
    }

    /// Adds changes from before all others, the oldest first; as many of the newest as have room.
    mutating func prepend(_ changes: ArraySlice<EarlierChanges.Entry>) {
        let added = changes.suffix(max(Self.capacity - entries.count, 0))
        let first = firstSerial - added.count
        let earlier = zip(first..., added).map { serial, entry in
            let time = LocalTime(entry.time, utcOffset: entry.utcOffset)
            return LogEntry(serial: serial, entry.change, latency: nil, time: time, paths)
        }
        entries.insert(contentsOf: earlier, at: 0)
        setFilter(filter)
    }

    /// Shows only what has all the words of a text; all, if it has none.
    mutating func setFilter(_ text: String) {
        filter = text
        let words = words
        matching = words.isEmpty ? nil : entries.filter { $0.matches(words) }.map(\.serial)
    }

    /// Keeps later changes back, or shows them.
    mutating func togglePause() { pauseSerial = pauseSerial == nil ? nextSerial : nil }

    private var words: [[UInt8]] { filter.lowercased().split(separator: " ").map { Array($0.utf8) } }

    private var firstSerial: Int { nextSerial - entries.count }

    /// The number of matching events before a serial.
    private func position(of serial: Int) -> Int {
        guard let matching else { return min(max(serial - firstSerial, 0), entries.count) }
        var low = 0
        var high = matching.count
        while low < high {
            let middle = (low + high) / 2
            if matching[middle] < serial { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Drops many in one step, so that the rest is rarely moved.
    private mutating func dropOldest() {
        entries.removeFirst(entries.count - Self.capacity)
        let first = firstSerial
        if let gone = matching?.prefix(while: { $0 < first }).count { matching?.removeFirst(gone) }
    }
}

/// One change in the log.
struct LogEntry: Sendable, Hashable {
    /// Counts the entries; 0 is the first that the view received itself.
    let serial: Int
    /// The change.
    let change: ReachabilityChange
    /// The time from reading the kernel's message to the change, if one caused it.
    let latency: Duration?
    /// Its time.
    let time: LocalTime
    /// All that the log and the details show of it, in lower case, for filters.
    private let searched: [UInt8]

    init(serial: Int, _ change: ReachabilityChange, latency: Duration?, time: LocalTime, _ paths: PathWords) {
        (self.serial, self.change, self.latency, self.time) = (serial, change, latency, time)
        let texts = [
            change.status.word, change.status.name, Self.reasonText(change), paths.path(change.path),
            change.path.carriers.map(paths.named).joined(separator: " "), time.whole,
        ]
        searched = Array(texts.joined(separator: " ").lowercased().utf8)
    }

    /// The reasons of the change, then those of the path, each once.
    var reasons: [ReachabilityReason] { Self.reasons(change) }

    /// The reasons, and what kind of change it is if that is no plain change.
    var reasonText: String { Self.reasonText(change) }

    /// Whether all the words of a filter, given in lower case, occur in what is shown of it.
    func matches(_ words: [[UInt8]]) -> Bool { words.allSatisfy(contains) }

    private func contains(_ word: [UInt8]) -> Bool {
        guard let first = word.first, searched.count >= word.count else { return word.isEmpty }
        for start in 0...searched.count - word.count where searched[start] == first {
            if searched[start...].starts(with: word) { return true }
        }
        return false
    }

    private static func reasons(_ change: ReachabilityChange) -> [ReachabilityReason] {
        change.reasons + change.path.reasons.filter { !change.reasons.contains($0) }
    }

    private static func reasonText(_ change: ReachabilityChange) -> String {
        let event = change.event == .state || change.event == .change ? [] : [change.event.rawValue]
        return (event + reasons(change).map(\.rawValue)).joined(separator: ", ")
    }
}
