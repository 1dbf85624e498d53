/// The value of a response whose body is empty, or of no interest.
///
/// ```swift
/// _ = try await session.delete("users/7").decoded(EmptyResponse.self)
/// ```
///
/// It is decoded from an empty body, as with status 204 or 205, and from any JSON, which is ignored.
public struct EmptyResponse: Codable, Sendable, Hashable {
    /// Creates the value.
    public init() {}

    /// Creates the value, whatever the decoder contains.
    public init(from decoder: any Decoder) {}
}
