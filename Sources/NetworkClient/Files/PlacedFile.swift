import Crypto
import NIOCore
import NetworkClientCore

/// A file at a path, made in a part if it can be replaced, and else written as it is: which, is seen when it is opened.
///
/// Unchecked, because one job of its ``SinkWriter`` at a time touches it; between two jobs, its event loop.
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
    /// The key by which the record of a part knows the whole URL, in a form that tells nothing: its SHA-256, in hex.
    ///
    /// User information does not count.
    var downloadKey: String {
        let text = "\(scheme)://\(authority)\(target)"
        return SHA256.hash(data: Array(text.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0\(digits)" : digits
        }.joined()
    }
}

extension PartRecord {
    /// Makes the record of a download of a URL.
    init(of url: HTTPURL, _ part: DownloadPart) { self.init(url: url.description, key: url.downloadKey, part: part) }
}

/// A file that an answer's body went to.
public struct DownloadedFile: Sendable, Hashable {
    /// Its path, as it was given; nil for a descriptor.
    public let path: String?
    /// How many bytes it has, or were written.
    public let size: Int64
    /// How many of them had come in earlier attempts, of this process or another; 0 if all came in the last one.
    public let resumedFrom: Int64

    /// Whether the last attempt went on behind what earlier ones had brought.
    public var isResumed: Bool { resumedFrom > 0 }
}

/// How much of a body has come, over all attempts that it took.
struct BodyProgress: Sendable, Hashable {
    /// How many bytes there are.
    var bytes: Int64
    /// How many there will be; nil if that is not known.
    var total: Int64?
}
