import Glibc
import Locking
import NIOCore
import NetworkClientCore

/// A file whose path is chosen when the head of the response has been received; nothing is created before.
///
/// A device or a pipe at the path is not written to: the name may be the server's.
///
/// Unchecked, because only one job of its ``SinkWriter`` at a time uses it; the choice is locked.
final class ChosenFile: FileSink, @unchecked Sendable {
    /// Returns the path for the head of the response and the suggested name.
    typealias Choice = @Sendable (HTTPResponse, String) throws -> String

    let isRestartable = true
    let mayBlock = false
    private let plan: PartialFile.Plan
    private let choose: Choice
    private let state = Lock(State())
    private var file: PartialFile?

    private struct State {
        var response: HTTPResponse?
        var name = SuggestedFileName.fallback
        var path: String?
    }

    init(_ plan: PartialFile.Plan, _ choose: @escaping Choice) {
        self.plan = plan
        self.choose = choose
    }

    /// The path that was chosen; nil before.
    var path: String? { state.withLock { $0.path } }

    /// Sets the head from which the path is chosen; the first one counts.
    func received(_ response: HTTPResponse, at url: HTTPURL) {
        let name = response.suggestedFileName(at: url)
        state.withLock { state in
            guard state.response == nil, response.status.kind == .successful else { return }
            (state.response, state.name) = (response, name)
        }
    }

    func open() throws(HTTPError) -> DownloadPart { .init() }

    func restart(_ part: DownloadPart) throws(HTTPError) {
        if file == nil { try openChosen() }
        try file?.restart(part)
    }

    func write(_ bytes: ByteBuffer) throws(HTTPError) { try file?.write(bytes) }
    func finish() throws(HTTPError) { try file?.finish() }
    func close(isKept: Bool) { file?.close(isKept: isKept) }

    private func openChosen() throws(HTTPError) {
        let path = try chosenPath()
        let target = try FileTarget(path, plan.existing)
        guard !target.isSpecial else {
            throw FileCall.failure("replace", path, errno: EINVAL, "it is no file: choose another one")
        }
        let file = PartialFile(target, plan)
        self.file = file
        _ = try file.open()
        state.withLock { $0.path = path }
    }

    private func chosenPath() throws(HTTPError) -> String {
        let (response, name) = state.withLock { ($0.response ?? .init(status: .ok), $0.name) }
        do {
            return try choose(response, name)
        } catch {
            if let error = error as? HTTPError { throw error }
            let reason = "the destination of the body was not chosen: \(error)"
            throw .init(.fileFailed, processing: .answered, reason: reason, cause: error)
        }
    }
}

extension HTTPResponse {
    /// Returns the safe file name for the body of a response; see ``DataResponse/suggestedFileName``.
    func suggestedFileName(at url: HTTPURL) -> String {
        SuggestedFileName.name(fields: headerFields[values: .contentDisposition], path: url.path)
    }
}
