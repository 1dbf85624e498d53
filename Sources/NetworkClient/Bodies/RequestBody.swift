public import FoundationEssentials
import Glibc
public import HTTPSerialization
public import NIOCore
import NIOPosix

/// What a request carries.
public struct RequestBody: Sendable {
    /// The bytes and their type, or why they can't be made.
    let content: Result<Content, HTTPError>

    struct Content: Sendable {
        typealias MakeSource = @Sendable () throws(HTTPError) -> BodySource

        var bytes: [UInt8]?
        /// Says what gives it, if it is not in memory; asked for each request that has this body.
        var makeSource: MakeSource?
        var contentType: String?

        var isNone: Bool { bytes == nil && makeSource == nil }
    }

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
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Self {
        .bytes(Array(text.utf8), contentType: contentType)
    }

    /// A value as JSON.
    ///
    /// What can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    public static func json(_ value: some Encodable, encoder: JSONEncoder = .init()) -> Self {
        .encoded(contentType: "application/json") { try Array(encoder.encode(value)) }
    }

    /// A value as a property list.
    ///
    /// What can't be encoded fails the request with ``HTTPError/Code/requestSerializationFailed``.
    public static func propertyList(_ value: some Encodable, encoder: PropertyListEncoder = .init()) -> Self {
        .encoded(contentType: "application/x-plist") { try Array(encoder.encode(value)) }
    }

    private static func encoded(contentType: String, _ encode: () throws -> [UInt8]) -> Self {
        do {
            return try .bytes(encode(), contentType: contentType)
        } catch {
            let reason = "the body can't be encoded as \(contentType): \(error)"
            return .init(content: .failure(.init(.requestSerializationFailed, .neverSent, reason, cause: error)))
        }
    }
}

/// Bodies that are not in memory.
extension RequestBody {
    /// A file, which is read while it is sent, with its length.
    ///
    /// It is looked at when the request is made, and again at the beginning of each attempt. What is no file that can be
    /// read, and what changes while it is sent, fails the request with ``HTTPError/Code/bodyUnavailable``: a file whose
    /// length is not what was promised is never sent whole.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - contentType: Its media type; nil for what the name's ending says (``FileMediaType``).
    /// - Returns: The body, which can be sent again.
    public static func file(_ path: String, contentType: String? = nil) -> Self {
        let type = contentType ?? FileMediaType.type(ofFileNamed: path)
        return .source(contentType: type) { () throws(HTTPError) in try .file(path) }
    }

    /// What a sequence gives, which can be read once.
    ///
    /// An element is asked for only when the connection can take it. The request is never sent twice: what would have to
    /// be, by a redirect, a challenge or a connection that died, ends with ``HTTPError/Code/bodyNotReplayable`` or with
    /// what went wrong. If the request ends first, the task that reads the sequence is cancelled. What it throws is the
    /// cause of the request's error, ``HTTPError/Code/bodyUnavailable``.
    ///
    /// - Parameters:
    ///   - sequence: Gives the bytes; elements may be empty.
    ///   - length: How many bytes it gives. To give fewer or more is an error, and a body that is too long or too short is
    ///     never sent whole: its last bytes wait for the sequence's end. If nil, the body is sent in chunks (RFC 9112,
    ///     7.1), which a few servers do not take.
    ///   - contentType: Their media type.
    /// - Returns: The body.
    public static func once<Elements: AsyncSequence & Sendable>(
        _ sequence: Elements,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream"
    ) -> Self where Elements.Element == [UInt8] {
        .once(length, contentType, SequenceFeed.reading({ sequence }, { ByteBuffer(bytes: $0) }))
    }

    /// What a sequence of buffers gives, which can be read once; see the one of arrays.
    public static func once<Elements: AsyncSequence & Sendable>(
        _ sequence: Elements,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream"
    ) -> Self where Elements.Element == ByteBuffer {
        .once(length, contentType, SequenceFeed.reading({ sequence }, { $0 }))
    }

    /// What a sequence gives that is made for each attempt.
    ///
    /// - Parameters:
    ///   - length: How many bytes it gives each time; nil if that is not known; see `once(_:length:contentType:)`.
    ///   - contentType: Their media type.
    ///   - make: Makes the sequence, at the beginning. What it throws is the cause of the request's error.
    /// - Returns: The body, which can be sent again.
    public static func replayable<Elements: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () async throws -> Elements
    ) -> Self where Elements.Element == [UInt8] {
        .replayable(length, contentType, SequenceFeed.reading(make, { ByteBuffer(bytes: $0) }))
    }

    /// What a sequence of buffers gives that is made for each attempt; see the one of arrays.
    public static func replayable<Elements: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        _ make: @escaping @Sendable () async throws -> Elements
    ) -> Self where Elements.Element == ByteBuffer {
        .replayable(length, contentType, SequenceFeed.reading(make, { $0 }))
    }

    /// A form (multipart/form-data), read while it is sent, with its exact length if all parts have one.
    ///
    /// A form that can't be written fails the request with ``HTTPError/Code/requestSerializationFailed``, one whose files
    /// can't be read with ``HTTPError/Code/bodyUnavailable``, before anything is sent. It can be sent again unless a part
    /// is a stream that can be read once.
    ///
    /// - Parameter form: The form.
    /// - Returns: The body.
    public static func multipart(_ form: MultipartForm) -> Self {
        do throws(RequestSerializationError) {
            let body = try form.encoded(boundary: "netwatch-" + RandomToken.short(words: 2))
            // Made here, so that two requests with this body read its streams once, too.
            let use = SingleUse()
            return .source(contentType: body.contentType) { () throws(HTTPError) in
                try .form(body, isReplayable: form.isReplayable, use: use)
            }
        } catch {
            return .init(content: .failure(.init(.requestSerializationFailed, .neverSent, "\(error)", cause: error)))
        }
    }

    /// The same body, sent no faster than a throttle allows.
    ///
    /// - Parameter throttle: How fast.
    /// - Returns: The body; what is none stays none.
    public func throttled(_ throttle: Throttle = .init()) -> Self {
        .init(
            content: content.map { content in
                var content = content
                if let bytes = content.bytes {
                    content.makeSource = { () throws(HTTPError) in BodySource.bytes(bytes).throttled(throttle) }
                } else if let make = content.makeSource {
                    content.makeSource = { () throws(HTTPError) in try make().throttled(throttle) }
                }
                content.bytes = nil
                return content
            }
        )
    }

    private static func once(_ length: Int64?, _ type: String?, _ read: @escaping SequenceFeed.Reading) -> Self {
        // Made here, so that two requests with this body read it once, too.
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

extension MultipartForm {
    /// Writes the form to a file, as it would be sent, and gives it as a body that can be sent again.
    ///
    /// So a form with streams that can be read once can be sent as often as it takes. The file appears whole or not at
    /// all, in place of one that is there, whose permissions it takes; where the path is a link, what it leads to is
    /// replaced. It stays until the caller removes it.
    ///
    /// - Parameter path: Where it is written: a file, or where there is none yet.
    /// - Returns: The file as a body, with the form's content type.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/fileFailed`` if the file can't be written, else as a request with the form
    ///   would.
    public func write(to path: String) async throws(HTTPError) -> RequestBody {
        let content = try RequestBody.multipart(self).content.get()
        guard let makeSource = content.makeSource else { return .none }
        let source = try makeSource()
        let target = try FileTarget(path, .replace)
        guard !target.isSpecial else { throw .file("replace", path, errno: EINVAL, "it is no file: name another one") }
        let file = PartialFile(target, .init(isContinuable: false, isSynced: false))
        // Now, and not when the thread that wrote last has let go of it.
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
