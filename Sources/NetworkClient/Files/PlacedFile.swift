import Crypto
import NIOCore
import NetworkClientCore

/// A file at a path: written as a part if it can be replaced, otherwise in place.
///
/// Which of them is decided when it is opened.
///
/// Unchecked, because only one job of its ``SinkWriter`` at a time uses it, and its event loop only between jobs.
final class PlacedFile: FileSink, @unchecked Sendable {
    private let path: String
    private let plan: PartialFile.Plan
    private let url: HTTPURL
    private var sink: (any FileSink)?

    init(_ path: String, _ plan: PartialFile.Plan, of url: HTTPURL) {
        self.path = path
        self.plan = plan
        self.url = url
    }

    var isRestartable: Bool { sink?.isRestartable ?? true }
    var mayBlock: Bool { sink?.mayBlock ?? true }

    func open() throws(HTTPError) -> DownloadPart {
        let target = try FileTarget(path, plan.existing)
        let sink: any FileSink =
            target.isSpecial ? DirectFile(.path(target.path)) : PartialFile(target, plan, of: url)
        self.sink = sink
        return try sink.open()
    }

    func restart(_ part: DownloadPart) throws(HTTPError) { try sink?.restart(part) }
    func write(_ bytes: ByteBuffer) throws(HTTPError) { try sink?.write(bytes) }
    func finish() throws(HTTPError) { try sink?.finish() }
    func close(isKept: Bool) { sink?.close(isKept: isKept) }
}

extension HTTPURL {
    /// The key that identifies the URL in the record of a part without revealing it: its SHA-256 in hexadecimal.
    ///
    /// User information is not included.
    var downloadKey: String {
        let text = "\(scheme)://\(authority)\(target)"
        return SHA256.hash(data: Array(text.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}

extension PartRecord {
    /// Makes the record for a download of a URL.
    init(of url: HTTPURL, _ part: DownloadPart) { self.init(url: url.description, key: url.downloadKey, part: part) }
}

/// A file that a response's body was written to.
public struct DownloadedFile: Sendable, Hashable {
    /// The path, as it was given; nil for a descriptor.
    public let path: String?
    /// The size of the file, or the number of bytes that were written.
    public let size: Int64
    /// The number of these bytes that were received in earlier attempts, of this process or another; 0 if all came in
    /// the last one.
    public let resumedFrom: Int64

    /// Whether the last attempt continued an earlier one.
    public var isResumed: Bool { resumedFrom > 0 }
}

/// How much of a body has been received across all attempts.
struct BodyProgress: Sendable, Hashable {
    /// The number of bytes that have been received.
    var bytes: Int64
    /// The total number of bytes; nil if it is not known.
    var total: Int64?
}
