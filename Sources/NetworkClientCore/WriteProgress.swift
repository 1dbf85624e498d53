/// Whether anything of what is to be written was taken since a moment, seen from how much is left.
///
/// What is added to the rest hides what was taken from it: so it is looked at before and after each time.
package struct WriteProgress: Sendable, Hashable {
    private var rest = 0
    private var hasMoved = false

    /// Begins with nothing to write.
    package init() {}

    /// From now on, progress is what makes the rest smaller.
    ///
    /// - Parameter rest: How many bytes are left to be taken.
    package mutating func begin(rest: Int) {
        self.rest = rest
        hasMoved = false
    }

    /// More is about to be added to what is left.
    package mutating func willAdd(to rest: Int) {
        hasMoved = hasMoved(rest: rest)
    }

    /// More was added.
    ///
    /// - Parameter rest: How many bytes are left now.
    package mutating func added(rest: Int) { self.rest = rest }

    /// Whether something was taken since the beginning.
    ///
    /// - Parameter rest: How many bytes are left now.
    /// - Returns: Whether so.
    package func hasMoved(rest: Int) -> Bool { hasMoved || rest < self.rest }
}
