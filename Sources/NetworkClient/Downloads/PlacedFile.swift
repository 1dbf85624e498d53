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
