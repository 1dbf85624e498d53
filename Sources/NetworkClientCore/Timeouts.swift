package import ReachabilityCore

/// The time limits of the stages of a request; nil for no limit.
///
/// Each stage has its own error (``Timeouts/Stage``), so that a log shows which stage was slow.
public struct Timeouts: Sendable, Hashable {
    /// Resolving the host's name.
    public var resolve: Duration?
    /// Connecting to one of the host's addresses, for all attempts together (RFC 8305).
    ///
    /// It starts again, at most three times, if the process did not run when it ended.
    public var connect: Duration?
    /// The TLS handshake.
    ///
    /// It starts again, at most three times, if the process did not run when it ended.
    public var tls: Duration?
    /// From the last byte of the request to the first byte of the response.
    public var firstByte: Duration?
    /// Between two reads of a response.
    public var read: Duration?
    /// Without progress in sending the request: no byte was accepted by the kernel although some are left.
    public var write: Duration?
    /// The wait for the 100 (Continue) response; the body is sent after it (RFC 9110, 10.1.1).
    ///
    /// It fails no request. Without this limit, a server that does not support `Expect` never gets the body.
    public var expectContinue: Duration?
    /// The whole request, including all waits.
    public var total: Duration?

    /// Creates limits.
    ///
    /// The defaults suit a server on the internet.
    public init(
        resolve: Duration? = .seconds(10),
        connect: Duration? = .seconds(10),
        tls: Duration? = .seconds(10),
        firstByte: Duration? = .seconds(60),
        read: Duration? = .seconds(60),
        write: Duration? = .seconds(60),
        expectContinue: Duration? = .seconds(1),
        total: Duration? = nil
    ) {
        self.resolve = resolve
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.read = read
        self.write = write
        self.expectContinue = expectContinue
        self.total = total
    }

    /// A stage with a limit.
    public enum Stage: String, Sendable, Hashable, CaseIterable {
        /// Resolving the host's name.
        case resolve
        /// Connecting.
        case connect
        /// The TLS handshake.
        case tls
        /// Waiting for the first byte of the response.
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

/// The deadlines of a connection, all served by one timer.
///
/// Moving a deadline later is free: the timer fires at the old one, checks, and is set again.
package struct Deadlines: Sendable {
    private static let never = Int64.max

    private var moments = InlineArray<5, Int64>(repeating: never)

    /// Creates a set without deadlines.
    package init() {}

    /// The kinds of deadline.
    package enum Kind: Int, Sendable, Hashable, CaseIterable {
        /// The whole request.
        case total
        /// The kernel must accept a byte of the request.
        case write
        /// The first byte of the response must arrive; or, before the body, the permission to send it.
        case firstByte
        /// The next bytes of the response must arrive.
        case read
        /// The connection must be used.
        case idle
    }

    /// The deadline of a kind; nil for none.
    package subscript(kind: Kind) -> Instant? {
        get { moments[kind.rawValue] == Self.never ? nil : .init(nanoseconds: moments[kind.rawValue]) }
        set { moments[kind.rawValue] = newValue?.nanoseconds ?? Self.never }
    }

    /// Removes all deadlines.
    package mutating func clear() { moments = .init(repeating: Self.never) }

    /// The earliest deadline; nil if there is none.
    package var next: Instant? {
        var first = Self.never
        for index in moments.indices { first = min(first, moments[index]) }
        return first == Self.never ? nil : .init(nanoseconds: first)
    }

    /// Returns the deadline that has expired: the earliest, and among equal ones the broader kind; nil if there is
    /// none.
    package func expired(at now: Instant) -> Kind? {
        var found: Kind?
        for kind in Kind.allCases where moments[kind.rawValue] <= now.nanoseconds {
            if let earlier = found, moments[earlier.rawValue] <= moments[kind.rawValue] { continue }
            found = kind
        }
        return found
    }
}

/// Detects when the kernel last accepted bytes of a write, from the number of bytes that are left.
///
/// It is checked periodically, and before and after more bytes are added, which would hide progress.
package struct WriteProgress: Sendable, Hashable {
    private var rest = 0
    private var hasMoved = false
    private var lastProgress = Instant(nanoseconds: 0)

    /// Creates the state for a connection with nothing to write.
    package init() {}

    /// Starts monitoring: from now on, a smaller number of bytes is progress.
    ///
    /// - Parameters:
    ///   - rest: The number of bytes that are left.
    ///   - now: The current time.
    package mutating func begin(rest: Int, at now: Instant) {
        self.rest = rest
        hasMoved = false
        lastProgress = now
    }

    /// Records progress before more bytes are added.
    package mutating func willAdd(to rest: Int) {
        if rest < self.rest { hasMoved = true }
    }

    /// Records that more bytes were added.
    ///
    /// - Parameter rest: The number of bytes that are left now.
    package mutating func added(rest: Int) { self.rest = rest }

    /// Checks for progress.
    ///
    /// - Parameters:
    ///   - rest: The number of bytes that are left now.
    ///   - now: The current time.
    /// - Returns: When progress was last detected, or when monitoring started.
    package mutating func check(rest: Int, at now: Instant) -> Instant {
        if hasMoved || rest < self.rest { begin(rest: rest, at: now) }
        return lastProgress
    }
}
