import Glibc
import NIOCore
import NIOPosix
import NetworkClientCore

/// Reads the body of a stored response from its file, which stays open: another process may remove its name.
final class CacheFileReader: Sendable {
    let length: Int64
    private let descriptor: Int32

    private init(_ descriptor: Int32, length: Int64) { (self.descriptor, self.length) = (descriptor, length) }

    deinit { close(descriptor) }

    /// Opens and checks a file, and calls a closure on the event loop with its reader; nil if it is damaged.
    ///
    /// All of it is checked before any of it is delivered.
    static func checked(
        _ path: String,
        _ record: CacheRecord,
        on loop: any EventLoop,
        _ done: @escaping @Sendable (CacheFileReader?) -> Void
    ) {
        NIOThreadPool.singleton.submit { _ in
            let reader = checked(path, record)
            loop.execute { done(reader) }
        }
    }

    static func checked(_ path: String, _ record: CacheRecord) -> CacheFileReader? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        let reader = CacheFileReader(descriptor, length: record.bodyLength)
        var checksum = BodyChecksum()
        var position: Int64 = 0
        while position < record.bodyLength {
            guard let piece = reader.read(at: position, min(1 << 20, record.bodyLength - position)) else { return nil }
            piece.withUnsafeReadableBytes { checksum.add($0) }
            position += Int64(piece.readableBytes)
        }
        return checksum.value == record.bodyChecksum ? reader : nil
    }

    /// Reads a piece off the event loop, and calls a closure on it; with nil if the piece can't be read.
    func read(
        at position: Int64,
        _ size: Int64,
        on loop: any EventLoop,
        _ done: @escaping @Sendable (ByteBuffer?) -> Void
    ) {
        NIOThreadPool.singleton.submit { [self] _ in
            let piece = read(at: position, size)
            loop.execute { done(piece) }
        }
    }

    /// Reads a piece; nil if the file is shorter.
    private func read(at position: Int64, _ size: Int64) -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: Int(size))
        var rest = Int(size)
        while rest > 0 {
            let offset = position + size - Int64(rest)
            let count = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: rest) {
                max(0, pread(descriptor, $0.baseAddress, rest, Int(offset)))
            }
            guard count > 0 else { return nil }
            rest -= count
        }
        return buffer
    }
}
