public import ReachabilityCore
public import ValidationCore

/// A path and what is known of it, of the same moment.
public struct ValidationChange: Sendable, Hashable {
    /// The path.
    public var path: NetworkPath
    /// The verdict on this path, never on an earlier one.
    public var validation: ValidationReport

    /// Creates a pair.
    public init(path: NetworkPath, validation: ValidationReport) {
        self.path = path
        self.validation = validation
    }
}
