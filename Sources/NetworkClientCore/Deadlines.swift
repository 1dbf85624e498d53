package import ReachabilityCore

/// The moments by which things must have happened on a connection: one timer serves them all.
///
/// A deadline that moves later costs nothing: the timer fires at the old one, asks, and is set anew.
public struct Deadlines: Sendable {
    private static let never = Int64.max

    private var moments = InlineArray<5, Int64>(repeating: never)

    /// No deadline.
    public init() {}

    /// What has a deadline on a connection.
    public enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// The whole request.
        case total
        /// The kernel must take a byte of the request.
        case write
        /// The first byte of the answer must come; or, before the body, the leave to send it.
        case firstByte
        /// The next bytes of the answer must come.
        case read
        /// The connection must be used.
        case idle
    }

    /// When something is due; nil for never.
    package subscript(kind: Kind) -> Instant? {
        get { moments[kind.rawValue] == Self.never ? nil : .init(nanoseconds: moments[kind.rawValue]) }
        set { moments[kind.rawValue] = newValue?.nanoseconds ?? Self.never }
    }

    /// Takes all back.
    public mutating func clear() { moments = .init(repeating: Self.never) }

    /// When the first is due; nil if none is.
    package var next: Instant? {
        var first = Self.never
        for index in moments.indices { first = min(first, moments[index]) }
        return first == Self.never ? nil : .init(nanoseconds: first)
    }

    /// What is due by a moment: that which was due first, and among equals the wider one.
    package func expired(at now: Instant) -> Kind? {
        var found: Kind?
        for kind in Kind.allCases where moments[kind.rawValue] <= now.nanoseconds {
            if let earlier = found, moments[earlier.rawValue] <= moments[kind.rawValue] { continue }
            found = kind
        }
        return found
    }
}
