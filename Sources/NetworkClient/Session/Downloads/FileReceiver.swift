import Glibc
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Takes an answer's body into a file, over as many attempts as it needs.
final class FileReceiver: BodyReceiver {
    private var plan: Plan
    private let writer: SinkWriter
    private let loop: any EventLoop
    private let host: String
    private var life: DownloadState
    /// What has come to be, once it has.
    private(set) var file: DownloadedFile?

    /// How a body is taken.
    struct Plan: Sendable {
        /// The file's path, as its user wrote it; nil for a descriptor.
        var path: String?
        /// What may be done with it; whether it can begin again is known when the file is open.
        var traits: DownloadState.Traits
        /// Whether the file is asked for as it is, not compressed.
        var wantsIdentity: Bool
    }

    init(_ plan: Plan, _ sink: any FileSink, host: String, loop: any EventLoop) {
        self.plan = plan
        self.loop = loop
        self.host = host
        life = .init(.init(), plan.traits)
        writer = .init(sink, loop: loop)
    }

    var canStartAgain: Bool { plan.traits.isRestartable || life.part.length == 0 || life.isContinuable }

    var continuesByRange: Bool { life.isContinuable }

    var progress: BodyProgress? { .init(bytes: life.part.length, total: life.part.total) }

    func open() -> EventLoopFuture<Void>? {
        let opened = writer.open()
        opened.assumeIsolated().whenSuccess { [self] part in
            plan.traits.isRestartable = writer.isRestartable
            life = .init(part, plan.traits)
        }
        return opened.map { _ in }
    }

    func willSend(_ head: inout HTTPRequestHead) {
        let ask = life.ask()
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

    func begin(_ head: HTTPResponseHead) throws(HTTPError) -> Reception {
        switch life.begin(.init(head)) {
        case .append: return .here
        case .restart(let part):
            writer.restart(part)
            return .here
        case .complete: return .whole
        case .noFile: return .memory
        case .again: return .again
        case .fail(let doubt): throw doubted(doubt)
        }
    }

    func receive(_ bytes: ByteBuffer) throws(HTTPError) -> EventLoopFuture<Void>? {
        if let doubt = life.receive(bytes.readableBytes) {
            writer.restart(.init())
            throw doubted(doubt)
        }
        return try writer.write(bytes)
    }

    func end() -> EventLoopFuture<Void>? {
        if let doubt = life.finish() {
            guard life.part.length > 0 else {
                writer.restart(.init())
                return loop.makeFailedFuture(doubted(doubt))
            }
            let reason = "\(host) \(doubt): what has come is kept, download again for the rest"
            return loop.makeFailedFuture(HTTPError(.bodyTruncated, processing: .answered, reason: reason))
        }
        let finished = writer.finish()
        finished.assumeIsolated().whenSuccess { [self] in
            file = .init(path: plan.path, size: life.part.length, resumedFrom: life.start ?? 0)
        }
        return finished
    }

    func abandon() {}

    func close() -> EventLoopFuture<Void>? { writer.close(isKept: life.part.isContinuable) }

    private func doubted(_ doubt: DownloadMismatch) -> HTTPError {
        .init(.invalidResponse, processing: .answered, reason: "\(host) \(doubt)")
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

/// What there is of a file whose download broke off.
package struct KeptPart: Sendable, Hashable {
    /// Where it is.
    package let path: String
    /// How much it is, in bytes.
    package let size: Int64
}

extension RequestHandle {
    /// What another download by the same request would go on with; nil for nothing.
    ///
    /// - Parameter path: The file's path, as the download was given it.
    /// - Returns: The part beside what the path leads to, if it is of this request's URL.
    package func keptPart(of path: String) -> KeptPart? {
        guard let target = try? FileTarget(path, .replace), !target.isSpecial else { return nil }
        let part = "\(target.path).part"
        guard let bytes = PartialFile.read("\(part).info"), let record = PartRecord(bytes),
            record.key == request.askedURL.downloadKey,
            let status = try? FileCall.status(part, followsLink: false), status.isRegular, status.isOwn,
            status.st_size > 0
        else { return nil }
        return .init(path: part, size: Int64(status.st_size))
    }
}

extension PreparedRequest {
    /// The URL that is asked, with the parameters that were put into its query.
    var askedURL: HTTPURL {
        if head.uri == url.target { return url }
        return (try? HTTPURL("\(url.scheme)://\(url.authority)\(head.uri)")) ?? url
    }
}
