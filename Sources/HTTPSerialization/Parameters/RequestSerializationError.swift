/// The reason why parameters can't be written.
public struct RequestSerializationError: Error, Sendable, CustomStringConvertible {
    /// The failure, its place and a remedy.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
