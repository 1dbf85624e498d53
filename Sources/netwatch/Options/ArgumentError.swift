/// Why the text of an argument can't be taken, and how to write it instead.
///
/// The argument parser says before it which option it was and what was given.
struct ArgumentError: Error, Equatable, CustomStringConvertible {
    /// What was wrong, without the argument itself, and how to write it.
    let description: String

    init(_ description: String) { self.description = description }
}
