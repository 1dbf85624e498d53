import Glibc
public import HTTPSerialization
import NIOCore
import NIOPosix

/// Writes a file that appears whole, or not at all.
///
/// Unchecked, because one write at a time is under way, and the next one begins after it.
final class FileWriter: @unchecked Sendable {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// Begins beside where the file is to be.
    ///
    /// - Throws: `fileFailed` if that can't be written.
    init(_ path: String) throws(HTTPError) {
        self.path = path
        temporary = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
        descriptor = -1
        guard !path.utf8.contains(0) else { throw .unwritable(String(reflecting: path), EINVAL) }
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .unwritable(path, errno) }
    }

    deinit { abandon() }

    /// Removes what was written; nothing once it is where it is to be.
    func abandon() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }

    /// The corresponding C function is `write`.
    func write(_ bytes: ByteBuffer) throws(HTTPError) {
        var bytes = bytes
        while bytes.readableBytes > 0 {
            let count = bytes.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes.moveReaderIndex(forwardBy: count)
            } else if errno != EINTR {
                throw .unwritable(path, errno)
            }
        }
    }

    /// Puts the file where it is to be.
    func finish() throws(HTTPError) {
        let isClosed = close(descriptor) == 0
        let closing = errno
        descriptor = -1
        guard isClosed, rename(temporary, path) == 0 else {
            let number = isClosed ? errno : closing
            unlink(temporary)
            throw .unwritable(path, number)
        }
    }
}

extension HTTPError {
    fileprivate static func unwritable(_ path: String, _ number: Int32) -> Self {
        .init(.fileFailed, .neverSent, "\(path) can't be written (\(describe(number)))", errno: number)
    }
}

extension MultipartForm {
    /// Writes the form to a file, as it would be sent, and gives it as a body that can be sent again.
    ///
    /// So a form with streams that can be read once can be sent as often as it takes. The file appears whole or not at
    /// all, in place of one that is there; it stays until the caller removes it.
    ///
    /// - Parameter path: Where it is written.
    /// - Returns: The file as a body, with the form's content type.
    /// - Throws: ``HTTPError``: ``HTTPError/Code/fileFailed`` if the file can't be written, else as a request with the form
    ///   would.
    public func write(to path: String) async throws(HTTPError) -> RequestBody {
        let content = try RequestBody.multipart(self).content.get()
        guard let makeSource = content.makeSource else { return .none }
        let source = try makeSource()
        let file = try FileWriter(path)
        do {
            try await source.read(on: MultiThreadedEventLoopGroup.singleton.next()) { piece in
                try await NIOThreadPool.singleton.runIfActive { try file.write(piece) }
            }
            try file.finish()
        } catch {
            // Now, and not when the thread that wrote last has let go of it.
            file.abandon()
            throw .unavailableBody(error, .neverSent)
        }
        return .file(path, contentType: content.contentType)
    }
}
