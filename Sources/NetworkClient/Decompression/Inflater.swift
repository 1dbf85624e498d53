import CZlib
import NIOCore

/// Undoes one coding, piece by piece; see ``Decompressor``.
///
/// What follows the last member is ignored, as gzip(1) and browsers do: servers pad with zeros. A zlib stream is taken
/// where gzip was promised and a gzip file where deflate was, as curl does.
final class Inflater {
    /// How much is handed out at a time, at most, in bytes.
    static let pieceSize = 65_536

    private enum State {
        /// Nothing has come.
        case empty
        /// One byte has come, from which it can't be told how the data begin.
        case begun(UInt8)
        /// Within a member.
        case inflating
        /// A member has ended; another one may follow.
        case between
        /// A member has ended, and the first byte of another one's beginning has come.
        case magic
        /// Whatever comes is ignored.
        case ended
    }

    private let coding: ContentCoding
    private let limit: Int
    private var count = 0
    private var state = State.empty
    private var isBare = false
    private var stream: ZlibStream?
    private var input = ByteBuffer()
    /// Whether the last piece filled its room, so that more may come without input.
    private var wasFull = false
    /// What is told after the last piece before it.
    private var failure: HTTPError?

    /// Makes one that hands out so many bytes at most.
    init(_ coding: ContentCoding, limit: Int?) {
        self.coding = coding
        self.limit = limit ?? .max
    }

    /// Takes in the next bytes.
    func feed(_ bytes: ByteBuffer) {
        if input.readableBytes == 0 { input = bytes } else { input.writeImmutableBuffer(bytes) }
    }

    /// The next piece of what was taken in; nil if there is none yet.
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

    /// Says that no more will come.
    func finish() throws(HTTPError) {
        switch state {
        case .empty, .between, .magic, .ended: return
        case .begun, .inflating: throw failed("they end too early")
        }
    }

    /// Finds out from the first two bytes how the data begin.
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

    /// Finds out whether another member follows; a single one of its bytes may be all there is yet.
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

    /// Hands a member's first byte to zlib; nothing comes out of one.
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

    /// Inflates until there is a piece, the input is used up, or the member ends.
    private func inflatePiece() throws(HTTPError) -> ByteBuffer? {
        guard let stream else { return nil }
        let size = min(max(1024, 4 * input.readableBytes), Self.pieceSize)
        // One byte more than is allowed shows that there is more.
        let room = limit - count < size ? limit - count + 1 : size
        var output = ByteBuffer()
        output.reserveCapacity(room)
        let code = stream.inflate(&input, into: &output, room: room)
        wasFull = false
        switch code {
        case Z_STREAM_END: state = isBare ? .ended : .between
        // No progress is not an error here: the input is used up.
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
            throw HTTPError(
                .bodyTooLarge,
                .answered,
                "the answer's body is more than \(limit) bytes once decompressed: raise the limit, or take it in pieces"
            )
        }
        count += more
    }

    private func failed(_ why: String) -> HTTPError {
        HTTPError(.decompressionFailed, .answered, "the answer's body is no valid \(coding) data: \(why)")
    }

    /// Whether two bytes begin a zlib stream (RFC 1950, 2.2); bare deflate data never do as encoders write them.
    private static func isZlib(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    /// Whether two bytes begin a gzip file (RFC 1952, 2.3.1).
    private static func isGzip(_ first: UInt8, _ second: UInt8) -> Bool { first == 0x1F && second == 0x8B }
}

/// zlib's inflate(), with its memory's lifetime.
///
/// The stream stays where it is: zlib keeps a pointer to it, and refuses one that was moved.
final class ZlibStream {
    private let stream: UnsafeMutablePointer<z_stream>

    /// The corresponding C function is `inflateInit2`; nil if there is no memory.
    ///
    /// - Parameter windowBits: As there: negative for bare deflate data, 32 more for a header that tells itself.
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

    /// Begins again with the same settings.
    func reset() { inflateReset(stream) }

    /// Inflates until the input is used up, the output is full, or the data end.
    ///
    /// The corresponding C function is `inflate`.
    ///
    /// - Parameters:
    ///   - input: What is taken in is taken out of it.
    ///   - output: What comes out is appended to it.
    ///   - room: How many bytes may come out, at most.
    /// - Returns: What that function returned.
    func inflate(_ input: inout ByteBuffer, into output: inout ByteBuffer, room: Int) -> Int32 {
        var code = Z_OK
        _ = output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { free in
            let size = min(room, free.count)
            stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: Bytef.self)
            stream.pointee.avail_out = uInt(clamping: size)
            code = input.readWithUnsafeReadableBytes { bytes in
                // zlib does not write to its input; its header can't say so.
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

    /// What zlib says of its last error.
    var message: String { stream.pointee.msg.map { String(cString: $0) } ?? "no more is known" }
}
