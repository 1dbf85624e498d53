public import HTTPTypes

/// Tries several serializers in order and returns the first value.
///
/// If all fail, it returns the body unchanged. Responses of several types become the cases of an enumeration with
/// ``ResponseSerializer/map(_:)``:
///
/// ```swift
/// enum Reply { case user(User), problem(Problem) }
/// let serializer = CompoundResponseSerializer<Reply>([
///     DecodableResponseSerializer<User>().map(Reply.user),
///     DecodableResponseSerializer<Problem>(expectation: problems).map(Reply.problem),
/// ])
/// ```
public struct CompoundResponseSerializer<Value: Sendable>: ResponseSerializer {
    private let serializers: [any ResponseSerializer<Value>]

    /// Creates a serializer from others, which are tried in order.
    public init(_ serializers: [any ResponseSerializer<Value>]) { self.serializers = serializers }

    /// The result of the first successful serializer, or the body.
    public enum Output: Sendable {
        /// One of the serializers succeeded.
        case value(Value)
        /// None of them succeeded: the body.
        case bytes([UInt8])
    }

    /// Returns the first value or the body.
    ///
    /// Fails only if no serializer succeeds and the status is not acceptable.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        for serializer in serializers {
            if let value = try? serializer.serialize(response, body: body) { return .value(value) }
        }
        return .bytes(try BytesResponseSerializer().serialize(response, body: body))
    }
}

/// Converts the values of another serializer.
public struct MappedResponseSerializer<Base: ResponseSerializer, Output: Sendable>: ResponseSerializer {
    let base: Base
    let transform: @Sendable (Base.Output) throws -> Output

    /// Returns the converted value.
    ///
    /// An error of the conversion is underlying one with the code ``ResponseSerializationError/Code/undecodable``.
    public func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output {
        let value = try base.serialize(response, body: body)
        do {
            return try transform(value)
        } catch {
            var fault = ResponseSerializationError(.undecodable, response)
            fault.underlying = error
            throw fault
        }
    }
}

extension ResponseSerializer {
    /// Returns a serializer that converts the values of this one.
    ///
    /// - Parameter transform: Returns the converted value; an error rejects the response.
    /// - Returns: The serializer.
    public func map<Value>(
        _ transform: @escaping @Sendable (Output) throws -> Value
    ) -> MappedResponseSerializer<Self, Value> {
        .init(base: self, transform: transform)
    }
}
