public import FoundationEssentials
public import HTTPSerialization

/// The settings by which ``DataRequest/decoded(_:)``, ``DataRequest/json()``, ``DataRequest/string()`` and
/// ``DataRequest/bytes()`` validate and decode responses.
///
/// ```swift
/// var configuration = HTTPConfiguration()
/// configuration.responseSerializer.expectation = .jsonOrText
/// configuration.responseSerializer.decoder = {
///     let decoder = JSONDecoder()
///     decoder.dateDecodingStrategy = .iso8601
///     return decoder
/// }
/// ```
public struct ResponseSerializerSettings: Sendable {
    /// The acceptable responses; status 2xx with a media type of JSON by default.
    ///
    /// The statuses apply to every response; the media types to those that are decoded from JSON.
    public var expectation: ResponseExpectation
    /// Creates the decoder, which decides how dates, data and keys are read; called for each response.
    public var decoder: @Sendable () -> JSONDecoder
    /// Whether ``DataRequest/json()`` removes nulls at any depth; false by default.
    public var removesNulls: Bool

    /// Creates settings; the properties describe the parameters.
    public init(
        expectation: ResponseExpectation = .json,
        removesNulls: Bool = false,
        decoder: @escaping @Sendable () -> JSONDecoder = { JSONDecoder() }
    ) {
        self.expectation = expectation
        self.removesNulls = removesNulls
        self.decoder = decoder
    }

    /// The acceptable responses of any media type.
    var anyType: ResponseExpectation { .init(statuses: expectation.statuses) }
}
