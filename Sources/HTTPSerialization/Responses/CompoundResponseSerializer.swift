public import HTTPTypes

/// Tries several serializers; the first that succeeds counts, and where none does the body stays as it is.
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    private let serializers: [any ResponseSerializer<Value>]

    /// Makes a serializer of others, which are tried in their order.
    public init(_ serializers: [any ResponseSerializer<Value>]) { self.serializers = serializers }

    /// What came of it.
    public enum Output: Sendable {
        /// One of the serializers succeeded.
        case value(Value)
        /// None did.
        case bytes([UInt8])
    }

    /// Fails only if the answer is a refusal that none of them reads.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        for serializer in serializers {
            if let value = try? serializer.serialize(response, body: body) { return .value(value) }
        }
        return .bytes(try BytesResponseSerializer().serialize(response, body: body))
    }
}
