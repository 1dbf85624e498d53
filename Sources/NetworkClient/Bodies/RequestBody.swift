public import FoundationEssentials
import Glibc
public import HTTPSerialization
public import NIOCore
import NIOPosix

/// The body of a request.
public struct RequestBody: Sendable {
    /// The bytes and their type, or the reason why they can't be produced.
    let content: Result<Content, HTTPError>

    struct Content: Sendable {
        typealias MakeSource = @Sendable () throws(HTTPError) -> BodySource

        var bytes: [UInt8]?
        /// Makes the source, if the body is not in memory; called for each request that has this body.
        var makeSource: MakeSource?
        var contentType: String?
        /// Returns the same form with parts in front of its own; nil if the body is not a multipart form.
        var addingParts: AddingParts?

        typealias AddingParts = @Sendable ([MultipartPart]) throws(RequestSerializationError) -> Content

        var isNone: Bool { bytes == nil && makeSource == nil }
    }

    /// The media type; nil if there is none, or if the body can't be produced.
    package var mediaType: String? { try? content.get().contentType }

    /// No body.
    public static let none = Self(content: .success(.init()))

    /// Bytes as they are.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - contentType: Their media type, such as `application/octet-stream`.
    /// - Returns: The body.
    public static func bytes(_ bytes: [UInt8], contentType: String? = "application/octet-stream") -> Self {
        .init(content: .success(.init(bytes: bytes, contentType: contentType)))
    }

    /// Text in UTF-8.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - contentType: Its media type.
    /// - Returns: The body.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Self {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A value as JSON.
    ///
    /// A value that can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded immediately.
    ///   - encoder: The encoder.
    /// - Returns: The body.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = .init()) -> Self {
        .encoded(contentType: "application/json") { try Array(encoder.encode(value)) }
    }

    /// A value as a property list.
    ///
    /// A value that can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    ///
    /// - Parameters:
    ///   - value: The value, which is encoded immediately.
    ///   - encoder: The encoder.
    /// - Returns: The body.
    public static func propertyList(_ value: some Encodable, encoder: PropertyListEncoder = .init()) -> Self {
        .encoded(contentType: "application/x-plist") { try Array(encoder.encode(value)) }
    }

    private static func encoded(contentType: String, _ encode: () throws -> [UInt8]) -> Self {
        do {
            return try .bytes(encode(), contentType: contentType)
        } catch {
            let reason = "the body can't be encoded as \(contentType): \(error)"
            return .init(
                content: .failure(
                    .init(.requestSerializationFailed, processing: .neverSent, reason: reason, cause: error)
                )
            )
        }
    }
}

/// Bodies that are not in memory.
extension RequestBody {
    /// A file, which is read while it is sent, with its length.
    ///
    /// The file is checked when the request is made, and again at the beginning of each attempt. The request fails with
    /// ``HTTPError/Code/bodyUnavailable`` if the file can't be read, or changes while it is being sent: a file that no
    /// longer has the announced length is never sent completely.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - contentType: Its media type; nil to derive it from the file name's extension.
    /// - Returns: The body, which can be resent.
    public static func file(_ path: String, contentType: String? = nil) -> Self {
        let type = contentType ?? FileMediaType.type(ofFileNamed: path)
        return .source(contentType: type) { () throws(HTTPError) in try .file(path) }
    }

    /// The elements of a sequence, which can be read once.
    ///
    /// An element is requested only when the connection can take it. The request is never resent: where a redirect,
    /// a challenge or a lost connection would require that, it fails with ``HTTPError/Code/bodyNotReplayable`` or with
    /// the original error. If the request ends first, the task that reads the sequence is cancelled. An error that the
    /// sequence throws becomes the cause of ``HTTPError/Code/bodyUnavailable``.
    ///
    /// - Parameters:
    ///   - sequence: The sequence of bytes; elements may be empty.
    ///   - length: The number of bytes of the whole sequence. It is an error to provide fewer or more, and a body that
    ///     is too long or too short is never sent completely: its last bytes are held back until the sequence ends. If
    ///     nil, the body is sent in chunks (RFC 9112, 7.1), which a few servers do not accept.
    ///   - contentType: Their media type.
    /// - Returns: The body.
    public static func once<Elements: AsyncSequence & Sendable>(
        _ sequence: Elements,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream"
    ) -> Self where Elements.Element == [UInt8] {
        .once(length, contentType, SequenceFeed.reading({ sequence }, { ByteBuffer(bytes: $0) }))
    }

    /// The elements of a sequence of buffers, which can be read once; see the overload for arrays.
    public static func once<Elements: AsyncSequence & Sendable>(
        _ sequence: Elements,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream"
    ) -> Self where Elements.Element == ByteBuffer {
        .once(length, contentType, SequenceFeed.reading({ sequence }, { $0 }))
    }

    /// The elements of a sequence that is created for each attempt.
    ///
    /// - Parameters:
    ///   - length: The number of bytes of each sequence; nil if it is not known; see `once(_:length:contentType:)`.
    ///   - contentType: Their media type.
    ///   - make: Creates the sequence at the beginning of an attempt. An error that it throws becomes the cause of the
    ///     request's error.
    /// - Returns: The body, which can be resent.
    public static func replayable<Elements: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () async throws -> Elements
    ) -> Self where Elements.Element == [UInt8] {
        .replayable(length, contentType, SequenceFeed.reading(make, { ByteBuffer(bytes: $0) }))
    }

    /// The elements of a sequence of buffers that is created for each attempt; see the overload for arrays.
    public static func replayable<Elements: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () async throws -> Elements
    ) -> Self where Elements.Element == ByteBuffer {
        .replayable(length, contentType, SequenceFeed.reading(make, { $0 }))
    }

    /// A form (multipart/form-data), read while it is sent, with its exact length if that of all parts is known.
    ///
    /// Before anything is sent, a form that can't be encoded fails the request with
    /// ``HTTPError/Code/requestSerializationFailed``, and one whose files can't be read fails it with
    /// ``HTTPError/Code/bodyUnavailable``. The form can be resent unless one of its parts is a stream that can be
    /// read only once.
    ///
    /// - Parameter form: The form.
    /// - Returns: The body.
    public static func multipart(_ form: MultipartForm) -> Self {
        do throws(RequestSerializationError) {
            // Made here, so that two requests with this body share the single use of its streams.
            return .init(content: .success(try content(of: form, SingleUse())))
        } catch {
            return .init(
                content: .failure(
                    .init(.requestSerializationFailed, processing: .neverSent, reason: "\(error)", cause: error)
                )
            )
        }
    }

    private static func content(of form: MultipartForm, _ use: SingleUse) throws(RequestSerializationError) -> Content {
        let body = try form.encoded(boundary: "netwatch-" + RandomToken.short(words: 2))
        return .init(
            makeSource: { () throws(HTTPError) in try .form(body, isReplayable: form.isReplayable, use: use) },
            contentType: body.contentType,
            addingParts: { (parts) throws(RequestSerializationError) in
                try content(of: .init(parts + form.parts), use)
            }
        )
    }

    /// The same body, sent no faster than a throttle allows.
    ///
    /// - Parameter throttle: The limit on the rate.
    /// - Returns: The throttled body; ``none`` stays ``none``.
    public func throttled(_ throttle: Throttle = .init()) -> Self {
        .init(content: content.map { $0.throttled(throttle) })
    }

    private static func once(_ length: Int64?, _ type: String?, _ read: @escaping SequenceFeed.Reading) -> Self {
        // Made here, so that two requests with this body share its single use.
        let source = BodySource.once(length: length, read)
        return .source(contentType: type) { () throws(HTTPError) in source }
    }

    private static func replayable(_ length: Int64?, _ type: String?, _ read: @escaping SequenceFeed.Reading) -> Self {
        .source(contentType: type) { () throws(HTTPError) in .replayable(length: length, read) }
    }

    private static func source(contentType: String?, _ make: @escaping Content.MakeSource) -> Self {
        .init(content: .success(.init(makeSource: make, contentType: contentType)))
    }
}

extension RequestBody.Content {
    fileprivate func throttled(_ throttle: Throttle) -> Self {
        var content = self
        if let bytes {
            content.makeSource = { () throws(HTTPError) in BodySource.bytes(bytes).throttled(throttle) }
        } else if let makeSource {
            content.makeSource = { () throws(HTTPError) in try makeSource().throttled(throttle) }
        }
        if let addingParts {
            content.addingParts = { (parts) throws(RequestSerializationError) in
                try addingParts(parts).throttled(throttle)
            }
        }
        content.bytes = nil
        return content
    }
}

extension MultipartForm {
    /// Writes the form to a file, as it would be sent, and returns it as a body that can be resent.
    ///
    /// A form whose streams can be read only once can then be sent any number of times. The file appears completely or
    /// not at all. It replaces an existing file, whose permissions it takes; if the path is a symbolic link, the file
    /// that it points to is replaced. The file stays until the caller removes it.
    ///
    /// - Parameter path: The path of the file, which need not exist.
    /// - Returns: The file as a body, with the form's content type.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/fileFailed`` if the file can't be written, otherwise the errors of a
    ///   request with the form.
    public func write(to path: String) async throws(HTTPError) -> RequestBody {
        let content = try RequestBody.multipart(self).content.get()
        guard let makeSource = content.makeSource else { return .none }
        let source = try makeSource()
        let target = try FileTarget(path, .replace)
        guard !target.isSpecial else {
            throw FileCall.failure("replace", path, errno: EINVAL, "it is no file: name another one")
        }
        let file = PartialFile(target, .init(isContinuable: false, isSynced: false))
        // Close now, rather than when the thread that wrote last releases the file.
        defer { file.close(isKept: false) }
        do {
            _ = try file.open()
            try await source.read(on: MultiThreadedEventLoopGroup.singleton.next()) { piece in
                try await NIOThreadPool.singleton.runIfActive { try file.write(piece) }
            }
            try file.finish()
        } catch {
            throw .unavailableBody(error, .neverSent)
        }
        return .file(path, contentType: content.contentType)
    }
}
