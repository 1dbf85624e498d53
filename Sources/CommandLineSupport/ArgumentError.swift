/// Why the text of an argument can't be taken, and how to write it instead.
///
/// The argument parser says before it which option it was and what was given.
package struct ArgumentError: Error, Equatable, CustomStringConvertible {
    /// What was wrong, without the argument itself, and how to write it.
    package let description: String

    package init(_ description: String) { self.description = description }
}
