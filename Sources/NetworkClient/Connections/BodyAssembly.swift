import NIOCore
import NIOHTTP1

extension HTTPResponseHead {
    /// Whether no body follows, whatever its fields say (RFC 9112, 6.3); nor does one follow any response to HEAD.
    var hasNoBody: Bool { (100...199).contains(status.code) || status == .noContent || status == .notModified }
}

/// An answer's body as it comes: put together, decompressed, and held to its bound.
struct BodyAssembly {
    /// How large it may become, decompressed, in bytes.
    var limit: Int
    /// Whether it is put together in memory; if not, it is handed on as it comes.
    var isKept = true
    /// How many bytes the server said would come, if it did.
    private(set) var announced: Int?
    private var body: ByteBuffer?
    private(set) var decompressor: Decompressor?
    private var passed = 0

    init(limit: Int) { self.limit = limit }

    /// Takes what the head says of the body.
    mutating func expect(_ head: HTTPResponseHead, decompresses: Bool) throws(HTTPError) {
        announced = head.headers.first(name: "Content-Length").flatMap { Int($0) }
        let content = decompresses && announced != 0 ? head.headers["Content-Encoding"] : []
        let transfer = head.headers["Transfer-Encoding"]
        if !content.isEmpty || !transfer.isEmpty {
            decompressor = try .init(contentEncoding: content, transferEncoding: transfer, limit: limit)
        }
        if decompressor == nil, let announced, announced > limit { throw .bodyTooLarge(limit, announced: announced) }
    }

    /// Takes what came next.
    mutating func append(_ bytes: ByteBuffer) throws(HTTPError) {
        guard let decompressor else {
            guard (body?.readableBytes ?? 0) + bytes.readableBytes <= limit else { throw .bodyTooLarge(limit) }
            return keep(bytes)
        }
        try decompressor.decompress(bytes) { keep($0) }
    }

    /// Notes how much of a body that is not compressed is handed on.
    mutating func pass(_ count: Int) throws(HTTPError) {
        passed += count
        guard passed <= limit else { throw .bodyTooLarge(limit) }
    }

    /// Says that all has come.
    mutating func finish() throws(HTTPError) -> ByteBuffer {
        try decompressor?.finish()
        return body ?? ByteBuffer()
    }

    /// The beginning of what has come.
    func prefix(_ count: Int) -> [UInt8] { body.map { Array($0.readableBytesView.prefix(count)) } ?? [] }

    private mutating func keep(_ bytes: ByteBuffer) {
        // Most bodies come in one piece, which is kept as it is.
        if body == nil { body = bytes } else { body?.writeImmutableBuffer(bytes) }
    }
}
