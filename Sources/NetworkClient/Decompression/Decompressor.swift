import NIOCore
import NetworkClientCore

/// Undoes all codings of one answer's body, piece by piece.
///
/// It belongs to the reader of the body; zlib's memory goes with it, also when the body is abandoned.
final class Decompressor {
    /// The coding that was applied last comes first.
    private let stages: [Inflater]

    /// Makes one for what the fields say; nil if there is nothing to undo.
    ///
    /// - Parameters:
    ///   - contentEncoding: The values of `Content-Encoding`.
    ///   - transferEncoding: The values of `Transfer-Encoding`, whose codings were applied after those.
    ///   - limit: How many bytes may come out, at each stage; nil for any number.
    /// - Throws: `decompressionFailed` for a content coding that is not known, or too many; a response with a transfer
    ///   coding that is not known can't be read in the first place.
    init?(
        contentEncoding: some Sequence<String>,
        transferEncoding: [String] = [],
        limit: Int?
    ) throws(HTTPError) {
        let codings = try ContentCoding.list(contentEncoding) + ContentCoding.list(transferEncoding: transferEncoding)
        if codings.isEmpty { return nil }
        stages = codings.reversed().map { Inflater($0, limit: limit) }
    }

    /// Takes in what the server sent next.
    func feed(_ input: ByteBuffer) { stages.first?.feed(input) }

    /// The next piece of what it says, of ``Inflater/pieceSize`` at most; nil if there is none yet.
    ///
    /// Nothing is inflated before it is asked for: a bomb, however often it is wrapped, costs its receiver no more than
    /// he takes.
    /// - Throws: `decompressionFailed` for what the coding does not allow, `bodyTooLarge` before more than the limit
    ///   has been handed out. Nothing is to be asked for after that.
    func next() throws(HTTPError) -> ByteBuffer? { try next(through: stages.count - 1) }

    private func next(through stage: Int) throws(HTTPError) -> ByteBuffer? {
        while true {
            if let piece = try stages[stage].next() { return piece }
            guard stage > 0, let more = try next(through: stage - 1) else { return nil }
            stages[stage].feed(more)
        }
    }

    /// Takes in what the server sent next, and hands out all that it says.
    func decompress(_ input: ByteBuffer, _ body: (ByteBuffer) -> Void) throws(HTTPError) {
        feed(input)
        while let piece = try next() { body(piece) }
    }

    /// Says that the body has ended.
    ///
    /// - Throws: `decompressionFailed` if the compressed data have not. A body of no bytes at all is one of no content.
    func finish() throws(HTTPError) {
        for stage in stages { try stage.finish() }
    }
}

/// A way in which a server has compressed a body (RFC 9110, 8.4.1).
enum ContentCoding: Sendable, Hashable {
    /// A gzip file, of one or several members (RFC 1952).
    case gzip
    /// A zlib stream (RFC 1950), or the bare deflate data (RFC 1951) that some servers send instead.
    case deflate

    /// How many codings in a row are undone: an honest server has one, and each costs work per byte.
    static let maximumCount = 3

    /// What a request says it accepts.
    static let accepted = "gzip, deflate"

    /// The codings that the values of Content-Encoding name, in the order in which they were applied.
    ///
    /// - Throws: `decompressionFailed` for a coding that is not known, or too many.
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
        HTTPError(.decompressionFailed, .answered, "the answer's body can't be decompressed because \(why)")
    }
}
