public import HTTPTypes

/// One part of a form: its name, its type and its content.
public struct MultipartPart: Sendable {
    let headers: Headers
    let content: MultipartContent

    enum Headers: Sendable {
        /// A disposition with a field name, and optionally a file name and a content type.
        case named(String, fileName: String?, contentType: String?)
        /// Header fields that are sent unchanged.
        case fields(HTTPFields)
    }

    /// Returns a text field in UTF-8, without a content type unless one is given, as browsers send it.
    ///
    /// - Parameters:
    ///   - text: The value. It is sent unchanged, including line ends.
    ///   - name: The field's name.
    ///   - contentType: The content type, for servers that require one.
    /// - Returns: The part.
    public static func text(_ text: String, name: String, contentType: String? = nil) -> Self {
        .init(
            headers: .named(name, fileName: nil, contentType: contentType),
            content: .bytes(Array(text.utf8))
        )
    }

    /// Returns a part with bytes as its content; it is a file if it has a file name.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - name: The field's name.
    ///   - fileName: The file name that the server sees.
    ///   - contentType: The content type; nil for the type of the file name's extension, or none if
    ///     there is no file name.
    /// - Returns: The part.
    public static func bytes(
        _ bytes: [UInt8],
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> Self {
        .init(
            headers: .named(name, fileName: fileName, contentType: contentType),
            content: .bytes(bytes)
        )
    }

    /// Returns a part with the content of a file, which is read while the form is sent.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: The field's name.
    ///   - fileName: The file name that the server sees; nil for the last component of the path.
    ///   - contentType: The content type; nil for the type of the file name's extension.
    /// - Returns: The part.
    public static func file(
        _ path: String,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> Self {
        .init(
            headers: .named(name, fileName: fileName ?? lastComponent(of: path), contentType: contentType),
            content: .file(path)
        )
    }

    /// Returns a part whose content comes from an asynchronous sequence while the form is sent.
    ///
    /// - Parameters:
    ///   - stream: The sequence. If its length is unknown, so is the length of the whole form, and the form is sent
    ///     chunked.
    ///   - name: The field's name.
    ///   - fileName: The file name that the server sees.
    ///   - contentType: The content type; nil for the type of the file name's extension, or none if there is no file
    ///     name.
    /// - Returns: The part.
    public static func stream(
        _ stream: MultipartStream,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) -> Self {
        .init(
            headers: .named(name, fileName: fileName, contentType: contentType),
            content: .stream(stream)
        )
    }

    /// Returns a part with custom header fields, which must include `Content-Disposition`.
    ///
    /// A field can't inject other fields: a name is a token (RFC 9110, 5.1), and line ends in a value are replaced by
    /// spaces. Whether a server accepts the fields is up to the caller.
    ///
    /// - Parameters:
    ///   - headers: The fields in the order in which they are sent.
    ///   - body: The contents.
    /// - Returns: The part.
    public static func part(headers: HTTPFields, body: [UInt8]) -> Self {
        .init(headers: .fields(headers), content: .bytes(body))
    }

    private static func lastComponent(of path: String) -> String {
        // Splits bytes, as the kernel does: a slash followed by a combining accent is another `Character`.
        path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? path
    }
}

/// The content of a part, or of a piece of a form's body.
public enum MultipartContent: Sendable {
    /// Bytes.
    case bytes([UInt8])
    /// The file at a path.
    case file(String)
    /// The bytes of a sequence.
    case stream(MultipartStream)
}

/// Bytes that are produced while they are sent.
public struct MultipartStream: Sendable {
    /// The bytes in chunks of any size; a chunk may be empty.
    public typealias Pieces = any AsyncSequence<[UInt8], any Error> & Sendable

    /// The number of bytes; nil if it is unknown.
    public let length: Int64?
    /// Whether ``make`` returns a sequence with the same bytes each time.
    public let isReplayable: Bool
    /// Returns the sequence.
    ///
    /// It is called each time the form is sent.
    public let make: @Sendable () -> Pieces

    /// Returns a stream that can be sent any number of times.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that each sequence produces; nil if it is unknown. Producing fewer or more is an
    ///     error.
    ///   - make: Creates a sequence.
    /// - Returns: The stream.
    public static func replayable<Sequence: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ make: @escaping @Sendable () -> Sequence
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: true) { FallibleSequence(base: make()) }
    }

    /// Returns a stream that can be read once, so that the form can't be sent a second time.
    ///
    /// - Parameters:
    ///   - sequence: Produces the bytes.
    ///   - length: The number of bytes; nil if it is unknown. Producing fewer or more is an error.
    /// - Returns: The stream.
    public static func once<Sequence: AsyncSequence & Sendable>(
        _ sequence: Sequence,
        length: Int64? = nil
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: false) { FallibleSequence(base: sequence) }
    }
}

/// Erases the failure type of a sequence to `any Error`.
private struct FallibleSequence<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable {
    typealias Element = Base.Element
    typealias Failure = any Error

    let base: Base

    func makeAsyncIterator() -> Iterator { .init(base: base.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator

        mutating func next() async throws -> Base.Element? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Base.Element? {
            try await base.next(isolation: actor)
        }
    }
}
