import Glibc
import NIOCore
import NetworkClientCore

/// A descriptor, a device or a pipe, written from where it is: nothing is taken back.
///
/// Unchecked, because one job of its ``SinkWriter`` at a time touches it.
final class DirectFile: FileSink, @unchecked Sendable {
    let isRestartable = false
    let mayBlock = true
    private let source: Source
    private var descriptor: Int32 = -1

    /// What is written.
    enum Source: Sendable {
        /// A descriptor, of which a copy is made.
        case descriptor(Int32)
        /// What is at a path, opened when it is needed.
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
                throw .file("write", name, errno: errno)
            }
        }
    }

    func finish() {}

    func close(isKept: Bool) {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}

/// What the bytes of an answer are written to; touched by one job of its ``SinkWriter`` at a time, away from the loop.
protocol FileSink: AnyObject {
    /// Whether what was written can be taken back.
    var isRestartable: Bool { get }
    /// Whether writing may take as long as the reader of the other end likes.
    var mayBlock: Bool { get }

    /// Opens it; what is there already of the download.
    func open() throws(HTTPError) -> DownloadPart
    /// Forgets what was written, and notes of what the next bytes are.
    func restart(_ part: DownloadPart) throws(HTTPError)
    /// Writes what follows.
    func write(_ bytes: ByteBuffer) throws(HTTPError)
    /// All was written: the file is put in its place.
    func finish() throws(HTTPError)
    /// Lets it go; called once, whatever has happened.
    ///
    /// - Parameter isKept: Whether what was written can be continued; if not, it is removed.
    func close(isKept: Bool)
}

/// What becomes of a file that is there already where another one is to be.
public enum ExistingFile: Sendable, Hashable {
    /// It is replaced, in one moment: its readers have the old one or the new one whole.
    case replace
    /// It stays, and the request fails.
    case refuse
}

/// The place of a file that is to come.
struct FileTarget: Sendable, Hashable {
    /// The path; where it was a link to a file, what that leads to.
    let path: String
    /// Whether what is there is no file that could be replaced, but a device or a pipe, which is written as it is.
    let isSpecial: Bool

    /// Looks at what is there.
    init(_ path: String, _ existing: ExistingFile) throws(HTTPError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .file("write", "'\(path.filter { $0 != "\0" })'", errno: EINVAL)
        }
        guard let there = try FileCall.status(path, followsLink: false) else {
            guard path.utf8.last != 0x2F else { throw .file("write", path, errno: EISDIR) }
            self.path = path
            isSpecial = false
            return
        }
        let status = there.isLink ? try FileCall.status(path) : there
        guard status?.isFolder != true else { throw .file("write", path, errno: EISDIR) }
        isSpecial = status.map { !$0.isRegular } ?? false
        // A link stays one: what it leads to is replaced. To a pipe there may be no other path, as behind /dev/stdout.
        self.path = there.isLink && !isSpecial ? try Self.resolved(path) : path
        if existing == .refuse, !isSpecial { throw .file("write", path, errno: EEXIST) }
    }

    /// The folder in which it is.
    var folder: String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// realpath(3).
    private static func resolved(_ path: String) throws(HTTPError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw .file("follow the link", path, errno: errno, "remove the link, or let it lead to a file")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
