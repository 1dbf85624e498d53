import NIOCore

/// Undoes all codings of one answer's body, piece by piece.
///
/// It belongs to whoever reads the body; zlib's memory goes with it, also when the body is abandoned.
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
    /// Nothing is inflated before it is asked for: a bomb, however often it is wrapped, costs its receiver no more than he
    /// takes.
    /// - Throws: `decompressionFailed` for what the coding does not allow, `bodyTooLarge` before more than the limit has
    ///   been handed out. Nothing is to be asked for after that.
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
