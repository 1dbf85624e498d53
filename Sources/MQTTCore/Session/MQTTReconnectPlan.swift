/// When a client connects again.
///
/// While the path to the broker stands, the delay is random between 0 and a ceiling that doubles with each failure (full
/// jitter), so that thousands of clients of a broker that restarts do not return in one moment.
///
/// A path that has just changed may not lead anywhere yet: its first failures are followed by short delays.
package struct MQTTReconnectPlan: Hashable, Sendable {
    /// The ceiling of the first delay, and the highest.
    private let range: ClosedRange<Duration>
    private var ceiling: Duration
    /// The ceilings of the short delays that are left.
    private var shortCeilings: ArraySlice<Duration> = []

    /// The time in which a link gets its addresses, finds its neighbours, and passes a switch that learns.
    private static let shortCeilings: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]

    /// Creates a plan.
    ///
    /// - Parameter range: The ceiling of the first delay, and the highest.
    package init(_ range: ClosedRange<Duration> = .seconds(30)...(.seconds(300))) {
        (self.range, ceiling) = (range, range.lowerBound)
    }

    /// Returns the delay after a connection was lost or could not be made.
    ///
    /// - Parameters:
    ///   - fraction: A random number from 0 up to 1.
    ///   - isRefused: Whether the broker refused the client, which only a person can change.
    ///   - isOfPath: Whether nothing was reached, which a path that has just changed may cause.
    /// - Returns: The delay.
    package mutating func delay(_ fraction: Double, isRefused: Bool = false, isOfPath: Bool = false) -> Duration {
        if isOfPath, let short = shortCeilings.popFirst() { return short * (0.5 + min(max(fraction, 0), 1) / 2) }
        if isRefused { ceiling = range.upperBound }
        defer { ceiling = min(ceiling * 2, range.upperBound) }
        return ceiling * min(max(fraction, 0), 1)
    }

    /// Begins from the first delay again, after a connection that lasted.
    package mutating func reset() { ceiling = range.lowerBound }

    /// Begins again with a path that has changed.
    package mutating func pathChanged() {
        reset()
        shortCeilings = Self.shortCeilings[...]
    }
}

/// The version to connect with: MQTT 5, unless the broker does not have it.
package struct MQTTVersionChoice: Hashable, Sendable {
    /// The version of the next connection.
    package private(set) var version: MQTTVersion
    private let isFixed: Bool
    private var isProven = false
    /// How often the broker closed the connection instead of a response, in a row.
    private var closings = 0

    /// Creates a choice; of one version if it is given.
    package init(only version: MQTTVersion? = nil) {
        self.version = version ?? .v5
        isFixed = version != nil
    }

    /// Notes that the broker accepted the version, which is kept then.
    package mutating func accepted() { (isProven, closings) = (true, 0) }

    /// Notes that the broker refused MQTT 5.
    ///
    /// - Returns: Whether to connect again immediately, with another version.
    package mutating func refused() -> Bool {
        guard !isFixed, version == .v5 else { return false }
        version = .v311
        return true
    }

    /// Notes that the broker closed the connection instead of a response to CONNECT, as some do with a version that they do
    /// not have, and all do that are being stopped.
    ///
    /// After the second time in a row, the versions take turns.
    package mutating func closed() {
        closings += 1
        guard !isFixed, !isProven, closings >= 2 else { return }
        version = version == .v5 ? .v311 : .v5
    }
}
