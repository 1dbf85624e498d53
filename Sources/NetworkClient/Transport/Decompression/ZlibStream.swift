import CZlib
import NIOCore

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

    /// Begins anew with the same settings.
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
