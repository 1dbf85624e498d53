package import ReachabilityCore

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
