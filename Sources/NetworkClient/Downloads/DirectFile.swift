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
