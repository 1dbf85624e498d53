package import ReachabilityCore

/// How long each stage of a request may take; nil means without a limit of its own.
///
/// Each has an error of its own (``Timeouts/Stage``), so that a log tells what was slow.
public struct Timeouts: Sendable, Hashable {
    /// Looking up the host's name.
    public var resolve: Duration?
    /// Connecting to one of the host's addresses, all attempts together (RFC 8305).
    public var connect: Duration?
    /// The TLS handshake.
    public var tls: Duration?
    /// From the last byte of the request to the first of the answer.
    public var firstByte: Duration?
    /// Between two reads of an answer.
    public var read: Duration?
    /// Without any byte of the request taken by the kernel while there are some to send.
    public var write: Duration?
    /// The whole request, its waits included.
    public var total: Duration?

    /// Sets each limit; the defaults are for a server on the internet.
    public init(
        resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10),
        tls: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(60),
        read: Duration? = .seconds(60),
        write: Duration? = .seconds(60),
        total: Duration? = nil
    ) {
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.read = read
        self.write = write
        self.total = total
    }

    /// A stage that has a limit.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Looking up the host's name.
        case resolve
        /// Connecting.
        case connect
        /// The TLS handshake.
        case tls
        /// Waiting for the first byte of the answer.
        case firstByte
        /// Between two reads.
        case read
        /// Writing.
        case write
        /// The whole request.
        case total
    }

    /// The limit of a stage.
    public subscript(stage: Stage) -> Duration? {
        switch stage {
        case .resolve: resolve
        case .connect: connect
        case .tls: tls
        case .firstByte: firstByte
        case .read: read
        case .write: write
        case .total: total
        }
    }
}

/// The moments by which things must have happened on a connection: one timer serves them all.
///
/// A deadline that moves later costs nothing: the timer fires at the old one, asks, and is set again.
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

/// When the kernel last took some of what is to be written, seen from how much is left.
///
/// It is looked at from time to time, and before and after more is added, which would hide what was taken.
package struct WriteProgress: Sendable, Hashable {
    private var rest = 0
    private var hasMoved = false
    private var lastProgress = Instant(nanoseconds: 0)

    /// Begins with nothing to write.
    package init() {}

    /// Begins to watch: from now on, progress is what makes the rest smaller.
    ///
    /// - Parameters:
    ///   - rest: How many bytes are left to be taken.
    ///   - now: The moment.
    package mutating func begin(rest: Int, at now: Instant) {
        self.rest = rest
        hasMoved = false
        lastProgress = now
    }

    /// Notes that more is about to be added to what is left.
    package mutating func willAdd(to rest: Int) {
        if rest < self.rest { hasMoved = true }
    }

    /// Notes that more was added.
    ///
    /// - Parameter rest: How many bytes are left now.
    package mutating func added(rest: Int) { self.rest = rest }

    /// Looks at what is left.
    ///
    /// - Parameters:
    ///   - rest: How many bytes are left now.
    ///   - now: The moment.
    /// - Returns: When something was last seen to be taken, or when the watch began.
    package mutating func check(rest: Int, at now: Instant) -> Instant {
        if hasMoved || rest < self.rest { begin(rest: rest, at: now) }
        return lastProgress
    }
}
