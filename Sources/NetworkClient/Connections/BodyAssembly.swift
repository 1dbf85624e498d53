import NIOCore
import NIOHTTP1

extension HTTPResponseHead {
    /// Whether no body follows, whatever the fields say (RFC 9112, 6.3).
    ///
    /// No body follows any response to HEAD either.
    var hasNoBody: Bool { (100...199).contains(status.code) || status == .noContent || status == .notModified }
}

/// Assembles a response body as it is received: concatenates and decompresses it, and enforces its size limit.
struct BodyAssembly {
    /// The maximum size in bytes, after decompression.
    var limit: Int
    /// Whether the body is kept in memory; if not, it is passed on piece by piece.
    var isKept = true
    /// The number of bytes that the server announced; nil if it did not.
    private(set) var announced: Int?
    private var body: ByteBuffer?
    private(set) var decompressor: Decompressor?
    private var passed = 0

    init(limit: Int) { self.limit = limit }

    /// Reads the length and the codings of the body from the head.
    mutating func expect(_ head: HTTPResponseHead, decompresses: Bool) throws(HTTPError) {
        announced = head.headers.first(name: "Content-Length").flatMap { Int($0) }
        let content = decompresses && announced != 0 ? head.headers["Content-Encoding"] : []
        let transfer = head.headers["Transfer-Encoding"]
        if !content.isEmpty || !transfer.isEmpty {
            decompressor = try .init(
                contentEncoding: content,
                transferEncoding: transfer,
                limit: limit,
                isKept: isKept
            )
        }
        if decompressor == nil, let announced, announced > limit { throw tooLarge }
    }

    /// Appends the next piece.
    mutating func append(_ bytes: ByteBuffer) throws(HTTPError) {
        guard let decompressor else {
            guard (body?.readableBytes ?? 0) + bytes.readableBytes <= limit else { throw tooLarge }
            return keep(bytes)
        }
        try decompressor.decompress(bytes) { keep($0) }
    }

    /// Counts bytes of an uncompressed body that is passed on.
    mutating func pass(_ count: Int) throws(HTTPError) {
        passed += count
        guard passed <= limit else { throw tooLarge }
    }

    /// Ends the body, and returns what was kept of it.
    mutating func finish() throws(HTTPError) -> ByteBuffer {
        try decompressor?.finish()
        return body ?? ByteBuffer()
    }

    /// Returns the first bytes of what has been kept.
    func prefix(_ count: Int) -> [UInt8] { body.map { Array($0.readableBytesView.prefix(count)) } ?? [] }

    private var tooLarge: HTTPError {
        .bodyTooLarge(limit, isKept: isKept, announced: announced.flatMap { $0 > limit ? $0 : nil })
    }

    private mutating func keep(_ bytes: ByteBuffer) {
        // Most bodies arrive in one piece, which is kept without copying.
        if body == nil { body = bytes } else { body?.writeImmutableBuffer(bytes) }
    }
}
