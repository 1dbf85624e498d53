import ReachabilityCore

/// One notice in the log.
struct LogEntry: Sendable, Hashable {
    /// Counts the entries from 0.
    let serial: Int
    /// The notice.
    let change: StateChange
    /// The time from reading the kernel's message to the notice, if one caused it.
    let latency: Duration?
    /// When it came.
    let time: LocalTime
    /// All that the log and the details show of it, in lower case, for filters.
    private let searched: [UInt8]

    init(serial: Int, _ change: StateChange, latency: Duration?, time: LocalTime, _ paths: PathWords) {
        (self.serial, self.change, self.latency, self.time) = (serial, change, latency, time)
        let texts = [
            change.status.word, change.status.name, Self.reasonText(change), paths.path(change.path),
            change.path.carriers.map(paths.named).joined(separator: " "), time.whole,
        ]
        searched = Array(texts.joined(separator: " ").lowercased().utf8)
    }

    /// What caused it, then why there is no path or what is wrong with it, each reason once.
    var reasons: [Reason] { Self.reasons(change) }

    /// The reasons, and what kind of notice it is if that is no plain change.
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

    private static func reasons(_ change: StateChange) -> [Reason] {
        change.reasons + change.path.reasons.filter { !change.reasons.contains($0) }
    }

    private static func reasonText(_ change: StateChange) -> String {
        let event = change.event == .state || change.event == .change ? [] : [change.event.rawValue]
        return (event + reasons(change).map(\.rawValue)).joined(separator: ", ")
    }
}
