import Glibc
import NIOCore

/// Reads a file that is being sent, from its beginning, on a thread that may block.
///
/// Unchecked, because reads never overlap.
final class FileReader: @unchecked Sendable {
    /// The maximum number of bytes of a piece.
    ///
    /// Larger ones have left the processor's nearest caches before the kernel copies them: 256 KiB are sent at 0.8 of the speed.
    static let pieceSize = 65_536
    /// The maximum number of pieces in a read.
    ///
    /// Each read takes two changes of threads. With four pieces, an upload takes 0.7 of the processor time of one with a
    /// single piece; with eight, no less than with four.
    private static let pieceCount = 4
    /// The maximum number of bytes in a read.
    static let readSize = pieceSize * pieceCount

    private let path: String
    private let length: Int64
    private var rest: Int64
    private var descriptor: Int32 = -1
    private var seen: SentFile?

    /// Makes a reader; opens nothing yet.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - length: The length that was announced, in bytes.
    init(_ path: String, length: Int64) {
        self.path = path
        self.length = length
        rest = length
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the next pieces; none at the end.
    ///
    /// The last piece is returned only after the file was checked for changes: a file that changed is never sent
    /// completely.
    func read() throws(HTTPError) -> [ByteBuffer] {
        if descriptor < 0 { try open() }
        var pieces: [ByteBuffer] = []
        while rest > 0, pieces.count < Self.pieceCount { pieces.append(try readPiece()) }
        return pieces
    }

    private func readPiece() throws(HTTPError) -> ByteBuffer {
        let size = Int(min(rest, Int64(Self.pieceSize)))
        var piece = ByteBuffer()
        piece.reserveCapacity(size)
        while piece.readableBytes < size {
            guard try fill(&piece, size - piece.readableBytes) > 0 else {
                throw .changedFile(path, length, "it ended after \(length - rest + Int64(piece.readableBytes))")
            }
        }
        rest -= Int64(size)
        if rest == 0 { try check() }
        return piece
    }

    private func open() throws(HTTPError) {
        let (descriptor, file) = try SentFile.open(path)
        self.descriptor = descriptor
        seen = file
        try check()
    }

    private func check() throws(HTTPError) {
        let now = try SentFile(descriptor, path)
        guard now.length == length else { throw .changedFile(path, length, "it has \(now.length) now") }
        guard now == seen else { throw .changedFile(path, length, "it was written to meanwhile") }
    }

    /// read(2); returns the number of bytes, 0 at the end of the file.
    private func fill(_ piece: inout ByteBuffer, _ size: Int) throws(HTTPError) -> Int {
        var number: Int32 = 0
        let count = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { free in
            var result = Glibc.read(descriptor, free.baseAddress, size)
            while result < 0, errno == EINTR { result = Glibc.read(descriptor, free.baseAddress, size) }
            if result < 0 { number = errno }
            return max(result, 0)
        }
        guard number == 0 else { throw .unreadableFile(path, number, "be read") }
        return count
    }
}

/// The properties of a file by which changes to it are detected.
struct SentFile: Equatable {
    let length: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the properties of the file at a path.
    ///
    /// - Throws: `bodyUnavailable` if it can't be read, or is not a regular file.
    init(at path: String) throws(HTTPError) {
        let (descriptor, file) = try Self.open(path)
        close(descriptor)
        self = file
    }

    fileprivate init(_ descriptor: Int32, _ path: String) throws(HTTPError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadableFile(path, errno, "be read") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .unreadableFile(path, EISDIR, "be sent: send the files in it")
        default:
            let reason = "\(path) is no regular file, whose length is known: send what comes out of it as a sequence"
            throw .init(.bodyUnavailable, processing: .neverSent, reason: reason)
        }
        length = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }

    /// open(2); does not wait for the other end of a FIFO.
    fileprivate static func open(_ path: String) throws(HTTPError) -> (descriptor: Int32, file: Self) {
        guard !path.utf8.contains(0) else { throw .unreadableFile(String(reflecting: path), EINVAL, "be opened") }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .unreadableFile(path, errno, "be opened") }
        do throws(HTTPError) {
            return (descriptor, try .init(descriptor, path))
        } catch {
            close(descriptor)
            throw error
        }
    }
}

extension HTTPError {
    fileprivate static func unreadableFile(_ path: String, _ number: Int32, _ what: String) -> Self {
        .init(
            .bodyUnavailable,
            processing: .neverSent,
            reason: "\(path) can't \(what) (\(describe(number)))",
            errno: number
        )
    }

    /// The error for a file that is no longer what was announced.
    static func changedFile(_ path: String, _ length: Int64, _ how: String) -> Self {
        let reason = "\(path) changed while it was sent: \(length) bytes were promised, and \(how); send a copy"
        return .init(.bodyUnavailable, processing: .neverSent, reason: reason)
    }
}
