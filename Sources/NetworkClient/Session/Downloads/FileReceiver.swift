import Glibc
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Writes the body of a response to a file, over as many attempts as necessary.
final class FileReceiver: BodyReceiver {
    private var plan: Plan
    private let writer: SinkWriter
    private let loop: any EventLoop
    /// The request, which retains this receiver.
    private unowned let handle: RequestHandle
    private var state: DownloadState
    /// The file, once it is complete.
    private(set) var file: DownloadedFile?

    /// The parameters of a download.
    struct Plan: Sendable {
        /// The file's path, as the user wrote it; nil for a descriptor.
        var path: String?
        /// The file whose path is chosen when the head of the response has been received; nil for a given path.
        var chosen: ChosenFile?
        /// The capabilities; `isRestartable` is final when the file is open.
        var traits: DownloadState.Traits
        /// Whether the file is requested without compression.
        var wantsIdentity: Bool
    }

    init(_ plan: Plan, _ sink: any FileSink, of handle: RequestHandle) {
        self.plan = plan
        self.handle = handle
        loop = handle.core.loop
        state = .init(.init(), plan.traits)
        writer = .init(sink, loop: loop)
    }

    var canStartAgain: Bool { plan.traits.isRestartable || state.part.length == 0 || state.isContinuable }

    var continuesByRange: Bool { state.isContinuable }

    var progress: BodyProgress? { .init(bytes: state.part.length, total: state.part.total) }

    func open() -> EventLoopFuture<Void>? {
        let opened = writer.open()
        opened.assumeIsolated().whenSuccess { [self] part in
            plan.traits.isRestartable = writer.isRestartable
            state = .init(part, plan.traits)
        }
        return opened.map { _ in }
    }

    func willSend(_ head: inout HTTPRequestHead) {
        let ask = state.ask()
        guard plan.traits.asksForParts else { return }
        head.headers.remove(name: "Range")
        head.headers.remove(name: "If-Range")
        if case .rest(let position, let validator) = ask {
            head.headers.add(name: "Range", value: "bytes=\(position)-")
            head.headers.add(name: "If-Range", value: validator.condition)
            head.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        } else if plan.wantsIdentity {
            head.headers.replaceOrAdd(name: "Accept-Encoding", value: "identity")
        }
    }

    private var host: String { handle.request.endpoint.text }

    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception {
        plan.chosen?.received(.init(head), at: handle.current.url)
        switch state.begin(.init(head)) {
        case .append: return .here
        case .restart(let part):
            writer.restart(part)
            return .here
        case .complete: return .whole
        case .noFile: return .memory
        case .again: return .again
        case .fail(let mismatch): throw mismatchError(mismatch)
        }
    }

    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        if let mismatch = state.receive(bytes.readableBytes) {
            writer.restart(.init())
            throw mismatchError(mismatch)
        }
        return try writer.write(bytes)
    }

    func end() -> EventLoopFuture<Void>? {
        if let mismatch = state.finish() {
            guard state.part.length > 0 else {
                writer.restart(.init())
                return loop.makeFailedFuture(mismatchError(mismatch))
            }
            let reason = "\(host) \(mismatch): the received part is kept, download again for the rest"
            return loop.makeFailedFuture(HTTPError(.bodyTruncated, processing: .answered, reason: reason))
        }
        let finished = writer.finish()
        finished.assumeIsolated().whenSuccess { [self] in
            let path = plan.chosen?.path ?? plan.path
            file = .init(path: path, size: state.part.length, resumedFrom: state.start ?? 0)
        }
        return finished
    }

    func abandon() {}

    func close() -> EventLoopFuture<Void>? { writer.close(isKept: state.part.isContinuable) }

    private func mismatchError(_ mismatch: DownloadMismatch) -> HTTPError {
        .init(.invalidResponse, processing: .answered, reason: "\(host) \(mismatch)")
    }
}

extension DownloadResponseHead {
    init(_ head: HTTPResponseHead) {
        let headers = head.headers
        let codings = headers[canonicalForm: "Content-Encoding"]
        self.init(
            status: Int(head.status.code),
            tags: headers["ETag"],
            dates: headers["Last-Modified"],
            sent: headers["Date"],
            ranges: headers["Content-Range"],
            length: head.hasNoBody ? 0 : headers.first(name: "Content-Length").flatMap { Int64($0) },
            type: headers.first(name: "Content-Type"),
            isEncoded: !head.hasNoBody && codings.contains { !$0.isEmpty && $0.lowercased() != "identity" }
        )
    }
}

/// The part of a file that an interrupted download has left.
package struct KeptPart: Sendable, Hashable {
    /// The path of the part.
    package let path: String
    /// The size in bytes.
    package let size: Int64
}

extension RequestHandle {
    /// Returns the part that another download by the same request would continue.
    ///
    /// - Parameter path: The file's path, as passed to the download.
    /// - Returns: The part next to the file, if it was downloaded from this request's URL; otherwise nil.
    package func keptPart(of path: String) -> KeptPart? {
        guard let target = try? FileTarget(path, .replace), !target.isSpecial else { return nil }
        let part = "\(target.path).part"
        guard let bytes = PartialFile.read("\(part).info"), let record = PartRecord(bytes),
            record.key == request.url.downloadKey,
            let status = try? FileCall.status(part, followsLink: false), status.isRegular, status.isOwn,
            status.st_size > 0
        else { return nil }
        return .init(path: part, size: Int64(status.st_size))
    }
}
