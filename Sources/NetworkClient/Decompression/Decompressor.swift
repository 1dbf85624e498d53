import NIOCore
import NetworkClientCore

/// Decodes all content and transfer codings of one response's body, piece by piece.
///
/// It is owned by the reader of the body; zlib's memory is freed with it, also when the body is abandoned.
final class Decompressor {
    /// The stages; the coding that was applied last is first.
    private let stages: [Inflater]

    /// Makes a decompressor for the codings in the fields; nil if there are none.
    ///
    /// - Parameters:
    ///   - contentEncoding: The values of `Content-Encoding`.
    ///   - transferEncoding: The values of `Transfer-Encoding`, whose codings were applied after those.
    ///   - limit: The maximum number of bytes that each stage may output; nil for no limit.
    ///   - isKept: Whether the output is kept in memory, and not in a file or stream; for errors.
    /// - Throws: `decompressionFailed` for an unknown content coding, or too many codings; a response with an unknown
    ///   transfer coding has already been rejected.
    init?(
        contentEncoding: some Sequence<String>,
        transferEncoding: [String] = [],
        limit: Int?,
        isKept: Bool = true
    ) throws(HTTPError) {
        let codings = try ContentCoding.list(contentEncoding) + ContentCoding.list(transferEncoding: transferEncoding)
        if codings.isEmpty { return nil }
        stages = codings.reversed().map { Inflater($0, limit: limit, isKept: isKept) }
    }

    /// Appends the next bytes from the server.
    func feed(_ input: ByteBuffer) { stages.first?.feed(input) }

    /// Returns the next decompressed piece, of at most ``Inflater/pieceSize`` bytes; nil if there is none yet.
    ///
    /// Nothing is inflated before it is requested: a decompression bomb, however many times it is compressed, costs no
    /// more than the output that is requested.
    ///
    /// - Throws: `decompressionFailed` for invalid compressed data, `bodyTooLarge` before more than the limit has been
    ///   returned. Don't call this again after an error.
    func next() throws(HTTPError) -> ByteBuffer? { try next(through: stages.count - 1) }

    private func next(through stage: Int) throws(HTTPError) -> ByteBuffer? {
        while true {
            if let piece = try stages[stage].next() { return piece }
            guard stage > 0, let more = try next(through: stage - 1) else { return nil }
            stages[stage].feed(more)
        }
    }

    /// Decompresses the next bytes from the server, and calls a closure with each piece.
    func decompress(_ input: ByteBuffer, _ body: (ByteBuffer) -> Void) throws(HTTPError) {
        feed(input)
        while let piece = try next() { body(piece) }
    }

    /// Ends the body.
    ///
    /// - Throws: `decompressionFailed` if the compressed data are incomplete. A body without any bytes is valid, and
    ///   has no content.
    func finish() throws(HTTPError) {
        for stage in stages { try stage.finish() }
    }
}

/// A compression of a body (RFC 9110, 8.4.1).
enum ContentCoding: Sendable, Hashable {
    /// A gzip file, of one or several members (RFC 1952).
    case gzip
    /// A zlib stream (RFC 1950), or the raw deflate data (RFC 1951) that some servers send instead.
    case deflate

    /// The maximum number of codings that are decoded in sequence: legitimate servers use one, and each costs work per
    /// byte.
    static let maximumCount = 3

    /// The value of a request's `Accept-Encoding` field.
    static let accepted = "gzip, deflate"

    /// The codings that the values of Content-Encoding name, in the order in which they were applied.
    ///
    /// - Throws: `decompressionFailed` for an unknown coding, or too many.
    static func list(_ values: some Sequence<String>) throws(HTTPError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in values.flatMap({ $0.split(separator: ",") }) {
            switch trimmed(name).lowercased() {
            case "gzip", "x-gzip": codings.append(.gzip)
            case "deflate": codings.append(.deflate)
            case "identity", "": continue
            case let unknown: throw unreadable("of its coding '\(unknown)', which was not asked for: use \(accepted)")
            }
        }
        guard codings.count <= maximumCount else {
            throw unreadable(
                "it is compressed \(codings.count) times over, and more than \(maximumCount) are not undone"
            )
        }
        return codings
    }

    /// The compressions that the values of `Transfer-Encoding` name, in the order in which they were applied.
    static func list(transferEncoding values: [String]) -> [ContentCoding] {
        let compressions = values.isEmpty ? nil : (try? TransferCodings(values))?.compressions
        return (compressions ?? []).map { $0 == .gzip ? .gzip : .deflate }
    }

    private static func trimmed(_ name: Substring) -> Substring {
        let start = name.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }

    private static func unreadable(_ why: String) -> HTTPError {
        HTTPError(
            .decompressionFailed,
            processing: .answered,
            reason: "the response's body can't be decompressed because \(why)"
        )
    }
}
