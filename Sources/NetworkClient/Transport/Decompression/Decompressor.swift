import NIOCore

/// Undoes all codings of one answer's body, piece by piece.
///
/// It belongs to whoever reads the body; zlib's memory goes with it, also when the body is abandoned.
final class Decompressor {
    /// The coding that was applied last comes first.
    private let stages: [Inflater]

    /// Makes one for what Content-Encoding says; nil if there is nothing to undo.
    ///
    /// - Parameters:
    ///   - contentEncoding: The field's values.
    ///   - limit: How many bytes may come out, at each stage; nil for any number.
    /// - Throws: `decompressionFailed` for a coding that is not known, or too many.
    init?(contentEncoding: some Sequence<String>, limit: Int?) throws(HTTPError) {
        let codings = try ContentCoding.list(contentEncoding)
        if codings.isEmpty { return nil }
        stages = codings.reversed().map { Inflater($0, limit: limit) }
    }

    /// Takes in what the server sent next, and hands out what it says, in pieces of ``Inflater/pieceSize`` at most.
    ///
    /// Between two pieces nothing is held, so that a bomb costs its receiver no more than he keeps.
    /// - Throws: `decompressionFailed` for what the coding does not allow, `bodyTooLarge` before more than the limit has
    ///   been handed out. Nothing is to be taken in after that.
    func decompress(_ input: ByteBuffer, _ body: (ByteBuffer) -> Void) throws(HTTPError) {
        try decompress(input, through: stages[...], body)
    }

    private func decompress(
        _ input: ByteBuffer,
        through stages: ArraySlice<Inflater>,
        _ body: (ByteBuffer) -> Void
    ) throws(HTTPError) {
        guard let first = stages.first else { return body(input) }
        try first.inflate(input) { (output: ByteBuffer) throws(HTTPError) in
            try decompress(output, through: stages.dropFirst(), body)
        }
    }

    /// Says that the body has ended.
    ///
    /// - Throws: `decompressionFailed` if the compressed data have not. A body of no bytes at all is one of no content.
    func finish() throws(HTTPError) {
        for stage in stages { try stage.finish() }
    }
}
