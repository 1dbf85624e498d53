import NIOCore

@testable import NetworkClient

/// Decodes codings, with the input in the given pieces and the rest in one piece.
func decompress(
    _ bytes: [UInt8],
    _ codings: String...,
    splits: [Int] = [],
    limit: Int? = nil
) throws(HTTPError) -> [UInt8] {
    guard let decompressor = try Decompressor(contentEncoding: codings, limit: limit) else { return bytes }
    var output: [UInt8] = []
    var rest = bytes[...]
    for size in splits + [bytes.count] {
        try decompressor.decompress(ByteBuffer(bytes: rest.prefix(size))) { piece in
            precondition(piece.readableBytes > 0 && piece.readableBytes <= Inflater.pieceSize)
            output += piece.readableBytesView
        }
        rest = rest.dropFirst(size)
    }
    try decompressor.finish()
    return output
}
