import CZlib
import NIOCore

/// Decodes one coding, piece by piece; see ``Decompressor``.
///
/// Bytes after the last member are ignored, as gzip(1) and browsers do: servers pad with zeros. A zlib stream is
/// accepted for gzip, and a gzip file for deflate, as curl does.
final class Inflater {
    /// The maximum size of a piece of output, in bytes.
    static let pieceSize = 65_536

    private enum State {
        /// No input yet.
        case empty
        /// One byte of input, which is not enough to recognize the format.
        case begun(UInt8)
        /// Inside a member.
        case inflating
        /// After a member; another one may follow.
        case between
        /// After a member, and the first byte of another one's header.
        case magic
        /// The end; further input is ignored.
        case ended
    }

    private let coding: ContentCoding
    private let limit: Int
    /// Whether the output is kept in memory, and not in a file or stream; for errors.
    private let isKept: Bool
    private var count = 0
    private var state = State.empty
    private var isBare = false
    private var stream: ZlibStream?
    private var input = ByteBuffer()
    /// Whether the last piece filled its buffer, so that there may be more output without input.
    private var wasFull = false
    /// The error, thrown after the last piece before it was returned.
    private var failure: HTTPError?

    /// Makes an inflater with a maximum number of output bytes.
    init(_ coding: ContentCoding, limit: Int?, isKept: Bool) {
        self.coding = coding
        self.limit = limit ?? .max
        self.isKept = isKept
    }

    /// Appends input.
    func feed(_ bytes: ByteBuffer) {
        if input.readableBytes == 0 { input = bytes } else { input.writeImmutableBuffer(bytes) }
    }

    /// Returns the next piece of output; nil if there is none yet.
    func next() throws(HTTPError) -> ByteBuffer? {
        if let failure { throw failure }
        while input.readableBytes > 0 || wasFull {
            switch state {
            case .ended:
                (input, wasFull) = (ByteBuffer(), false)
            case .inflating: if let piece = try inflatePiece() { return piece }
            case .empty, .begun: try begin()
            case .between, .magic: try beginAnother()
            }
        }
        return nil
    }

    /// Ends the input.
    func finish() throws(HTTPError) {
        switch state {
        case .empty, .between, .magic, .ended: return
        case .begun, .inflating: throw failed("they end too early")
        }
    }

    /// Recognizes the format by the first two bytes.
    private func begin() throws(HTTPError) {
        guard case .begun(let first) = state else {
            state = input.readInteger().map { .begun($0) } ?? .empty
            return
        }
        guard let second = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return }
        isBare = coding == .deflate && !Self.isZlib(first, second) && !Self.isGzip(first, second)
        guard let stream = ZlibStream(windowBits: isBare ? -MAX_WBITS : MAX_WBITS + 32) else {
            throw failed("there is no memory for it")
        }
        self.stream = stream
        try enterMember(first)
    }

    /// Checks whether another member follows, of whose header a single byte may have arrived yet.
    private func beginAnother() throws(HTTPError) {
        let next = input.getInteger(at: input.readerIndex, as: UInt8.self)
        switch (state, next) {
        case (.between, 0x1F):
            input.moveReaderIndex(forwardBy: 1)
            state = .magic
        case (.magic, 0x8B):
            stream?.reset()
            try enterMember(0x1F)
        default:
            state = .ended
        }
    }

    /// Passes a member's first byte to zlib, which outputs nothing for it.
    private func enterMember(_ first: UInt8) throws(HTTPError) {
        state = .inflating
        var (byte, none) = (ByteBuffer(integer: first), ByteBuffer())
        none.reserveCapacity(1)
        guard let stream else { return }
        switch stream.inflate(&byte, into: &none, room: 1) {
        case Z_OK, Z_BUF_ERROR: return
        default: throw failed(stream.message)
        }
    }

    /// Inflates until there is a piece, the input is consumed, or the member ends.
    private func inflatePiece() throws(HTTPError) -> ByteBuffer? {
        guard let stream else { return nil }
        let size = min(max(1024, 4 * input.readableBytes), Self.pieceSize)
        // One byte beyond the limit shows that there is more.
        let room = limit - count < size ? limit - count + 1 : size
        var output = ByteBuffer()
        output.reserveCapacity(room)
        let code = stream.inflate(&input, into: &output, room: room)
        wasFull = false
        switch code {
        case Z_STREAM_END: state = isBare ? .ended : .between
        // No progress is not an error here: the input is consumed.
        case Z_OK, Z_BUF_ERROR: wasFull = output.readableBytes == room
        default: failure = failed(stream.message)
        }
        try note(output.readableBytes)
        if output.readableBytes > 0 { return output }
        if let failure { throw failure }
        return nil
    }

    private func note(_ more: Int) throws(HTTPError) {
        guard more <= limit - count else {
            throw .bodyTooLarge(limit, isKept: isKept, isCompressed: true)
        }
        count += more
    }

    private func failed(_ why: String) -> HTTPError {
        HTTPError(
            .decompressionFailed,
            processing: .answered,
            reason: "the response's body is no valid \(coding) data: \(why)"
        )
    }

    /// Whether two bytes begin a zlib stream (RFC 1950, 2.2); raw deflate data as encoders write them never begin so.
    private static func isZlib(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    /// Whether two bytes begin a gzip file (RFC 1952, 2.3.1).
    private static func isGzip(_ first: UInt8, _ second: UInt8) -> Bool { first == 0x1F && second == 0x8B }
}

/// zlib's inflate(), with the lifetime of its memory.
///
/// The stream has a stable address: zlib keeps a pointer to it, and rejects one that was moved.
final class ZlibStream {
    private let stream: UnsafeMutablePointer<z_stream>

    /// inflateInit2(); nil if there is no memory.
    ///
    /// - Parameter windowBits: As documented by zlib: negative for raw deflate data, plus 32 to detect the header.
    init?(windowBits: Int32) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard netwatch_inflate_init(stream, windowBits) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Starts again with the same settings.
    func reset() { inflateReset(stream) }

    /// Inflates until the input is consumed, the output is full, or the data end; inflate().
    ///
    /// - Parameters:
    ///   - input: Consumed bytes are removed from it.
    ///   - output: Output is appended to it.
    ///   - room: The maximum number of bytes to output.
    /// - Returns: The return value of inflate().
    func inflate(_ input: inout ByteBuffer, into output: inout ByteBuffer, room: Int) -> Int32 {
        var code = Z_OK
        _ = output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { free in
            let size = min(room, free.count)
            stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: Bytef.self)
            stream.pointee.avail_out = uInt(clamping: size)
            code = input.readWithUnsafeReadableBytes { bytes in
                // zlib does not write to its input; its header is not const-correct.
                let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                stream.pointee.next_in = start?.assumingMemoryBound(to: Bytef.self)
                stream.pointee.avail_in = uInt(clamping: bytes.count)
                let code = CZlib.inflate(stream, Z_NO_FLUSH)
                return (bytes.count - Int(stream.pointee.avail_in), code)
            }
            return size - Int(stream.pointee.avail_out)
        }
        return code
    }

    /// zlib's message about its last error.
    var message: String { stream.pointee.msg.map { String(cString: $0) } ?? "no more is known" }
}
