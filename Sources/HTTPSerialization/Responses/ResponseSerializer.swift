public import HTTPTypes

/// Makes a value of an answer, or says why it can't be one.
///
/// Users put their own decodings here. A serializer is a value without state, used from any thread.
public protocol ResponseSerializer<Output>: Sendable {
    /// What it makes.
    associatedtype Output: Sendable

    /// Makes the value.
    ///
    /// - Parameters:
    ///   - response: The answer's head.
    ///   - body: The whole body; empty if there is none.
    /// - Returns: The value.
    /// - Throws: ``ResponseSerializationError``, with what the body of a refusal says where it can be decoded.
    func serialize(_ response: HTTPResponse, body: [UInt8]) throws(ResponseSerializationError) -> Output
}

/// Why an answer is not what was expected.
public struct ResponseSerializationError: Error, Sendable {
    /// What was wrong.
    public var code: Code
    /// The answer's status code.
    public var status: Int
    /// The answer's `Content-Type`, if it has one.
    public var contentType: String?
    /// What the body says, decoded as if all were well: many servers describe errors in bodies.
    public var decoded: (any Sendable)?
    /// What else was wrong, or what the decoder said.
    public var underlying: (any Error)?

    /// Makes an error.
    public init(_ code: Code, _ response: HTTPResponse) {
        self.code = code
        status = response.status.code
        contentType = response.headerFields[.contentType]
    }

    /// What was wrong.
    public enum Code: Sendable, Hashable {
        /// The status code is none of those expected.
        case unacceptableStatus
        /// The body is of another type than those expected.
        case unacceptableContentType
        /// The body can't be decoded.
        case undecodable
    }
}

extension ResponseSerializationError: CustomStringConvertible {
    /// What was wrong, in one line.
    public var description: String {
        let type = contentType.map { "Content-Type '\($0)'" } ?? "no Content-Type"
        let what =
            switch code {
            case .unacceptableStatus: "the server answered with status \(status)"
            case .unacceptableContentType: "the answer has \(type), which is none of those expected"
            case .undecodable: "the body can't be decoded (\(type))"
            }
        return underlying.map { "\(what): \($0)" } ?? what
    }
}
