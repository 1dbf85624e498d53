import CZlib
import NIOCore
import NetworkClientCore

/// Decompresses received messages (RFC 7692, 7.2.2); confined to the session's event loop.
final class MessageInflater {
    private let stream: ZlibStream
    private let keepsContext: Bool
    private var output = ByteBuffer()
    /// The number of streams that have ended within the current message.
    private var streamEnds = 0
    private static let pieceSize = 32_768
    /// The maximum number of streams of a message: each costs a copy of the window, for two bytes of the message.
    private static let maximumStreamEnds = 1_000
    /// The end that the sender removes from each message.
    private static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    /// Creates an inflater; nil if there is no memory.
    init?(_ agreement: WebSocketCompression.Agreement) {
        // zlib's raw format has no window of 8 bits; a larger one reads the same.
        guard let stream = ZlibStream(windowBits: -CInt(max(agreement.serverWindowBits, 9))) else { return nil }
        self.stream = stream
        keepsContext = agreement.serverContextTakeover
    }

    /// Decompresses a piece of a message.
    ///
    /// - Parameters:
    ///   - input: The piece.
    ///   - receive: Receives the decompressed pieces; what it throws ends the decompression.
    /// - Throws: ``WebSocketFault`` for invalid data.
    func inflate(
        _ input: ByteBuffer,
        _ receive: (UnsafeRawBufferPointer) throws(WebSocketFault) -> Void
    ) throws(WebSocketFault) {
        var input = input
        var wasFull = false
        while input.readableBytes > 0 || wasFull {
            output.clear()
            let code = stream.inflate(&input, into: &output, room: Self.pieceSize)
            wasFull = output.readableBytes >= Self.pieceSize
            let received = output.withUnsafeReadableBytes { piece in
                Result { () throws(WebSocketFault) in try receive(piece) }
            }
            try received.get()
            switch code {
            case Z_OK: break
            case Z_BUF_ERROR: return
            case Z_STREAM_END: try restart()
            default: throw .violation("a compressed message can't be decompressed: \(stream.message)")
            }
        }
    }

    /// Continues a message after the end of a stream within it.
    private func restart() throws(WebSocketFault) {
        streamEnds += 1
        guard streamEnds <= Self.maximumStreamEnds else {
            throw .violation("a compressed message has more than \(Self.maximumStreamEnds) final blocks")
        }
        stream.restartWithWindow()
    }

    /// Decompresses the end of a message.
    func finish(_ receive: (UnsafeRawBufferPointer) throws(WebSocketFault) -> Void) throws(WebSocketFault) {
        try inflate(ByteBuffer(bytes: Self.tail), receive)
        streamEnds = 0
        if !keepsContext { stream.reset() }
    }
}

extension ZlibStream {
    /// Starts another stream after the end of one; its data may refer to the window of the previous one (RFC 7692,
    /// 7.2.3.4).
    fileprivate func restartWithWindow() {
        let window = dictionary
        reset()
        setDictionary(window)
    }
}

/// Compresses messages (RFC 7692, 7.2.1); confined to the session's event loop.
final class MessageDeflater {
    private let stream: UnsafeMutablePointer<z_stream>
    private let keepsContext: Bool

    /// Creates a deflater; nil if zlib does not have the window, or there is no memory.
    init?(_ agreement: WebSocketCompression.Agreement) {
        guard agreement.clientWindowBits >= 9 else { return nil }
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        keepsContext = agreement.clientContextTakeover
        guard netwatch_deflate_init(stream, Z_DEFAULT_COMPRESSION, -CInt(agreement.clientWindowBits)) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Compresses a message that is not empty.
    func deflate(_ message: ByteBuffer) -> ByteBuffer {
        var output = ByteBuffer()
        let bound = Int(deflateBound(stream, uLong(message.readableBytes))) + 16
        output.reserveCapacity(bound)
        message.withUnsafeReadableBytes { bytes in
            // zlib does not write to its input; its header is not const-correct.
            let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            stream.pointee.next_in = start?.assumingMemoryBound(to: Bytef.self)
            stream.pointee.avail_in = uInt(clamping: bytes.count)
            repeat { write(to: &output, room: bound) } while stream.pointee.avail_out == 0
        }
        if !keepsContext { deflateReset(stream) }
        output.moveWriterIndex(to: output.writerIndex - 4)
        return output
    }

    private func write(to output: inout ByteBuffer, room: Int) {
        _ = output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { free in
            stream.pointee.next_out = free.baseAddress?.assumingMemoryBound(to: Bytef.self)
            stream.pointee.avail_out = uInt(clamping: free.count)
            _ = CZlib.deflate(stream, Z_SYNC_FLUSH)
            return free.count - Int(stream.pointee.avail_out)
        }
    }
}
