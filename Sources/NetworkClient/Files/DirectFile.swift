import Glibc
import NIOCore
import NetworkClientCore

/// A descriptor, a device or a pipe, written at its current position: what was written can't be taken back.
///
/// Unchecked, because only one job of its ``SinkWriter`` at a time uses it.
final class DirectFile: FileSink, @unchecked Sendable {
    let isRestartable = false
    let mayBlock = true
    private let source: Source
    private var descriptor: Int32 = -1

    /// The file to write.
    enum Source: Sendable {
        /// A descriptor, which is duplicated.
        case descriptor(Int32)
        /// The file at a path, opened when it is needed.
        case path(String)
    }

    init(_ source: Source) { self.source = source }

    private var name: String {
        switch source {
        case .descriptor(let number): "descriptor \(number)"
        case .path(let path): path
        }
    }

    func open() throws(HTTPError) -> DownloadPart {
        descriptor = try FileCall.make("write", name) {
            switch source {
            case .descriptor(let number): fcntl(number, F_DUPFD_CLOEXEC, 0)
            case .path(let path): Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            }
        }
        return .init()
    }

    func restart(_ part: DownloadPart) {}

    func write(_ bytes: ByteBuffer) throws(HTTPError) {
        var rest = bytes
        while rest.readableBytes > 0 {
            let count = rest.withUnsafeReadableBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest.moveReaderIndex(forwardBy: count)
            } else if errno == EAGAIN {
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                throw FileCall.failure("write", name, errno: errno)
            }
        }
    }

    func finish() {}

    func close(isKept: Bool) {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}

/// A destination for the bytes of a response; used by one job of its ``SinkWriter`` at a time, off the event loop.
protocol FileSink: AnyObject {
    /// Whether what was written can be taken back.
    var isRestartable: Bool { get }
    /// Whether a write may block for as long as the reader at the other end likes.
    var mayBlock: Bool { get }

    /// Opens the sink; returns the part of the download that already exists.
    func open() throws(HTTPError) -> DownloadPart
    /// Discards what was written, and records which version the next bytes belong to.
    func restart(_ part: DownloadPart) throws(HTTPError)
    /// Appends bytes.
    func write(_ bytes: ByteBuffer) throws(HTTPError)
    /// Moves the complete file to its final path.
    func finish() throws(HTTPError)
    /// Releases the sink; called once, in all cases.
    ///
    /// - Parameter isKept: Whether to keep what was written, so that it can be continued; if not, it is removed.
    func close(isKept: Bool)
}

/// The treatment of an existing file at the path of a download.
public enum ExistingFile: Sendable, Hashable {
    /// It is replaced atomically: readers see the whole old file or the whole new one.
    case replace
    /// It stays, and the request fails.
    case refuse
}

/// The path of a file to be written.
struct FileTarget: Sendable, Hashable {
    /// The path; for a symbolic link to a file, the path of its target.
    let path: String
    /// Whether the path is not a regular file, which could be replaced, but a device or a pipe, which is written in
    /// place.
    let isSpecial: Bool

    /// Examines the existing file, if there is one.
    init(_ path: String, _ existing: ExistingFile) throws(HTTPError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FileCall.failure("write", "'\(path.filter { $0 != "\0" })'", errno: EINVAL)
        }
        guard let there = try FileCall.status(path, followsLink: false) else {
            guard path.utf8.last != 0x2F else { throw FileCall.failure("write", path, errno: EISDIR) }
            self.path = path
            isSpecial = false
            return
        }
        let status = there.isLink ? try FileCall.status(path) : there
        guard status?.isFolder != true else { throw FileCall.failure("write", path, errno: EISDIR) }
        isSpecial = status.map { !$0.isRegular } ?? false
        // A link is kept, and its target replaced. A pipe may have no other path, as behind /dev/stdout.
        self.path = there.isLink && !isSpecial ? try Self.resolved(path) : path
        if existing == .refuse, !isSpecial { throw FileCall.failure("write", path, errno: EEXIST) }
    }

    /// The directory that contains the file.
    var folder: String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// realpath(3).
    private static func resolved(_ path: String) throws(HTTPError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw FileCall.failure("follow the link", path, errno: errno, "remove the link, or let it lead to a file")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
