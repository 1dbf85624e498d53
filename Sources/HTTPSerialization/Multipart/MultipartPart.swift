public import HTTPTypes

/// One part of a form: what it is called, what it is, and what is in it.
public struct MultipartPart: Sendable {
    let headers: Headers
    let content: MultipartContent

    enum Headers: Sendable {
        /// A disposition with a name, and perhaps a file's, and a content type.
        case named(String, fileName: String?, contentType: String?)
        /// Fields as they are.
        case fields(HTTPFields)
    }

    /// A field: text in UTF-8, without a content type, as browsers send it.
    ///
    /// - Parameters:
    ///   - text: The value, sent as it is, line ends included.
    ///   - name: The field's name.
    ///   - contentType: The type, where a server wants to be told.
    /// - Returns: The part.
    public static func text(_ text: String, name: String, contentType: String? = nil) -> Self {
        .init(
            headers: .named(name, fileName: nil, contentType: contentType),
            content: .bytes(Array(text.utf8))
        )
    }

    /// Bytes, as a file if there is a file name.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - name: The field's name.
    ///   - fileName: What the server shall take for the file's name.
    ///   - contentType: The type; nil for what the file name's ending says (``FileMediaType``), and for none without one.
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

    /// A file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - name: The field's name.
    ///   - fileName: What the server shall take for its name; nil for the path's last part.
    ///   - contentType: The type; nil for what the file name's ending says (``FileMediaType``).
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

    /// What a sequence gives while it is sent.
    ///
    /// - Parameters:
    ///   - stream: The sequence. If its length is not known, the whole form's is not, and it is sent chunked.
    ///   - name: The field's name.
    ///   - fileName: What the server shall take for the file's name.
    ///   - contentType: The type; nil for what the file name's ending says, and for none without one.
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

    /// A part with fields of its own, `Content-Disposition` included.
    ///
    /// Fields can't break out of their lines: a name is a token (RFC 9110, 5.1), and of a value whatever ends a line has
    /// become a space. That a server finds the part is the caller's business.
    ///
    /// - Parameters:
    ///   - headers: The fields, sent in their order.
    ///   - body: The contents.
    /// - Returns: The part.
    public static func part(headers: HTTPFields, body: [UInt8]) -> Self {
        .init(headers: .fields(headers), content: .bytes(body))
    }

    private static func lastComponent(of path: String) -> String {
        // By bytes, as the kernel does it: of characters, a slash with an accent is none.
        path.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } ?? path
    }
}

/// What is in a part, and in what order a form is made of it.
public enum MultipartContent: Sendable {
    /// Bytes.
    case bytes([UInt8])
    /// The file at a path.
    case file(String)
    /// What a sequence gives.
    case stream(MultipartStream)
}

/// Bytes that come while they are sent.
public struct MultipartStream: Sendable {
    /// The bytes, piece by piece; pieces may be empty.
    public typealias Pieces = any AsyncSequence<[UInt8], any Error> & Sendable

    /// How many bytes there will be; nil if that is not known.
    public let length: Int64?
    /// Whether ``make`` gives the same bytes each time.
    public let isReplayable: Bool
    /// Gives the sequence, each time the form is sent.
    public let make: @Sendable () -> Pieces

    /// A sequence that can be made again, as often as the form is sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes it gives each time; nil if that is not known. To give fewer or more is an error.
    ///   - make: Makes it.
    /// - Returns: The stream.
    public static func replayable<Sequence: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ make: @escaping @Sendable () -> Sequence
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: true) { FallibleSequence(base: make()) }
    }

    /// A sequence that can be read once: the form is then never sent twice.
    ///
    /// - Parameters:
    ///   - sequence: Gives the bytes.
    ///   - length: How many it gives; nil if that is not known. To give fewer or more is an error.
    /// - Returns: The stream.
    public static func once<Sequence: AsyncSequence & Sendable>(
        _ sequence: Sequence,
        length: Int64? = nil
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: false) { FallibleSequence(base: sequence) }
    }
}

/// A sequence that never fails, or in its own way, among those that may fail in any.
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
