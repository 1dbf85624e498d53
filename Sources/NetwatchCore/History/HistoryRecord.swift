public import ReachabilityCore

/// What a line of `watch --json` says, as far as a history needs it.
public struct HistoryRecord: Sendable, Hashable {
    /// Where it was read, counted from 1.
    public var line: Int
    /// When it was written.
    public var time: Timestamp
    /// Whether a monitor began with it.
    public var isFirst: Bool
    /// The notice's number, counted by its monitor from 1.
    public var sequence: UInt64
    /// The state.
    public var status: ReachabilityStatus
    /// Why, in the words of the line.
    public var reasons: [String]
    /// What it tells of a suspension that has just ended; nil if of none.
    public var suspension: Suspension?

    /// How long the machine was suspended.
    public enum Suspension: Sendable, Hashable {
        /// So long.
        case lasted(Duration)
        /// The line does not tell.
        case untold
    }

    /// Makes a record.
    public init(
        line: Int,
        time: Timestamp,
        isFirst: Bool,
        sequence: UInt64,
        status: ReachabilityStatus,
        reasons: [String] = [],
        suspension: Suspension? = nil
    ) {
        self.line = line
        self.time = time
        self.isFirst = isFirst
        self.sequence = sequence
        self.status = status
        self.reasons = reasons
        self.suspension = suspension
    }
}

extension ReachabilityStatus {
    /// The state of a name, as JSON lines have it.
    public init?(name: String) {
        let all: [Self] = [.unknown, .notReachable, .cellular, .wifi]
        guard let status = all.first(where: { $0.name == name }) else { return nil }
        self = status
    }
}
