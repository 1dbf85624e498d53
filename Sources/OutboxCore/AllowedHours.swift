/// The hours of the day, in local time, in which a lane may send.
public struct AllowedHours: Sendable, Hashable {
    /// The hour in which sending begins, from 0 to 23.
    public var start: Int
    /// The hour in which sending ends, from 0 to 24; one before ``start`` is of the next day.
    public var end: Int

    /// Creates hours, such as 22 to 6 for the night.
    ///
    /// - Parameters:
    ///   - start: The hour in which sending begins, from 0 to 23.
    ///   - end: The hour in which sending ends, from 0 to 24.
    public init(from start: Int, to end: Int) { (self.start, self.end) = (start, end) }

    /// The reason why these are no hours; nil if they are.
    package var problem: String? {
        let isInRange = (0...23).contains(start) && (0...24).contains(end) && start != end
        return isInRange ? nil : "from \(start) to \(end): hours are 0 to 24, and begin and end differ"
    }

    /// Returns the time until sending may begin; zero if it may now.
    ///
    /// - Parameter second: The second of the local day.
    /// - Returns: The time.
    package func delay(atSecondOfDay second: Int) -> Duration {
        // Stored hours may be damaged.
        let (begin, finish) = (min(max(start, 0), 23) * 3_600, min(max(end, 0), 24) * 3_600)
        let isOpen = begin < finish ? begin <= second && second < finish : second >= begin || second < finish
        if isOpen { return .zero }
        return .seconds(second < begin ? begin - second : begin + 86_400 - second)
    }
}
