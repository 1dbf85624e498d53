public import HTTPTypes

/// Which answers are good ones.
public struct ResponseExpectation: Sendable, Hashable {
    /// The status codes of success.
    public var statuses: Set<Int>
    /// Patterns of the media types that are read (``MediaType/matches(_:)``); nil for any.
    public var mediaTypes: Set<String>?

    /// Expects success, of any type unless told otherwise.
    public init(statuses: Set<Int> = Set(200...299), mediaTypes: Set<String>? = nil) {
        self.statuses = statuses
        self.mediaTypes = mediaTypes
    }

    /// JSON by its registered type, by what it was called before, and by any type built on it (RFC 6839, 3.1).
    public static let json = Self(mediaTypes: ["application/json", "text/json", "text/javascript", "*/*+json"])
    /// Property lists.
    public static let propertyList = Self(mediaTypes: ["application/x-plist"])

    /// Holds an answer against what is expected, and decodes it.
    ///
    /// | status | type | body | result |
    /// |---|---|---|---|
    /// | expected | expected, or there is no body | any | the decoded body |
    /// | expected | another | some | ``ResponseSerializationError/Code/unacceptableContentType`` |
    /// | another | expected | any | ``ResponseSerializationError/Code/unacceptableStatus`` with the decoded body |
    /// | another | another | some | the same, without it, and with the other error beneath |
    ///
    /// - Parameters:
    ///   - response: The answer's head.
    ///   - body: The whole body.
    ///   - decode: Makes the value of the body.
    /// - Returns: The value.
    /// - Throws: ``ResponseSerializationError``.
    public func value<Output: Sendable>(
        of response: HTTPResponse,
        body: [UInt8],
        _ decode: ([UInt8]) throws -> Output
    ) throws(ResponseSerializationError) -> Output {
        let isReadable = body.isEmpty || accepts(response.headerFields[.contentType])
        let typeFault = isReadable ? nil : ResponseSerializationError(.unacceptableContentType, response)
        guard statuses.contains(response.status.code) else {
            var error = ResponseSerializationError(.unacceptableStatus, response)
            error.underlying = typeFault
            if isReadable { error.decoded = try? decode(body) }
            throw error
        }
        if let typeFault { throw typeFault }
        do {
            return try decode(body)
        } catch {
            var fault = ResponseSerializationError(.undecodable, response)
            fault.underlying = error
            throw fault
        }
    }

    private func accepts(_ contentType: String?) -> Bool {
        guard let mediaTypes else { return true }
        guard let type = contentType.flatMap(MediaType.init) else { return false }
        return mediaTypes.contains(where: type.matches)
    }
}
