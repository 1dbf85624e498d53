public import HTTPTypes

/// Puts parameters into a request: into its target, or into a body with a content type.
///
/// Users put their own encodings here. A serializer is a value without state, used from any thread.
public protocol RequestSerializer: Sendable {
    /// Gives the request with its parameters.
    ///
    /// - Parameters:
    ///   - request: The head so far. What it says already is never overwritten.
    ///   - parameters: What to send; nil for nothing.
    /// - Returns: The head and the body.
    /// - Throws: ``RequestSerializationError`` if the parameters can't be written this way.
    func serialize(
        _ request: HTTPRequest,
        parameters: ParameterValue?
    ) throws(RequestSerializationError) -> SerializedRequest
}

/// A request that is ready to be sent.
public struct SerializedRequest: Sendable, Hashable {
    /// Method, target and header.
    public var head: HTTPRequest
    /// The body; nil for none, which is not the same as an empty one.
    public var body: [UInt8]?

    /// Makes a request.
    public init(head: HTTPRequest, body: [UInt8]? = nil) {
        self.head = head
        self.body = body
    }
}

/// Why parameters can't be written.
public struct RequestSerializationError: Error, Sendable, CustomStringConvertible {
    /// What was wrong, where, and what to do.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}
