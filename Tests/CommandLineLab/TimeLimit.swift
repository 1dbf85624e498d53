/// A time limit that is to end a program, but not before the program has got to what the test is about.
package enum TimeLimit {
    /// Runs a program with a limit of 100 ms, and with a longer one where a slow machine did not get far enough within that.
    ///
    /// - Parameters:
    ///   - run: Runs the program with a limit, written as for a command-line option, such as `100ms`.
    ///   - isFarEnough: Whether a run got to what the test is about.
    /// - Returns: The first run that did, or the one with the longest limit, 100 s.
    /// - Throws: The errors of both closures.
    package static func lengthened<Run>(
        _ run: (String) throws -> Run,
        until isFarEnough: (Run) throws -> Bool
    ) rethrows -> Run {
        for limit in ["100ms", "1s", "10s"] {
            let attempt = try run(limit)
            if try isFarEnough(attempt) { return attempt }
        }
        return try run("100s")
    }
}
