import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore
import NetworkClient

/// A request for the outbox, which `netwatch-outbox` stores.
///
/// It is executed from the directory of this executable, so that this one does not need SQLite. The body is its stdin: a
/// file without a name, or the file that is uploaded.
struct StoredRequest {
    private let command: FetchCommand

    init(_ command: FetchCommand) { self.command = command }

    /// Replaces this process by `netwatch outbox add`.
    ///
    /// - Returns: Never; the return type is that of other commands.
    /// - Throws: The error for the user, if the request can't be formed or the executable is missing.
    func add() throws(ToolError) -> ExitStatus {
        let (target, body) = try form()
        var words = ["outbox", "add", "--method", command.request.method.rawValue] + command.later.words
        if let key = command.trust.key { words += ["--key", key] }
        if command.waiting.required.requirement != .any { words.append(command.waiting.required.requirement.option) }
        for field in command.request.headers where field.name != .contentType {
            words += ["--header", "\(field.name.rawName): \(field.value)"]
        }
        if let body { words += ["--data", body.source] }
        if let type = command.request.headers[.contentType] ?? body?.contentType { words += ["--content-type", type] }
        throw Self.execute(words + ["--", target])
    }

    /// The body for `netwatch outbox add`.
    private struct Body {
        var source: String
        var contentType: String?
    }

    /// Writes the parameters into the request.
    private func form() throws(ToolError) -> (target: String, body: Body?) {
        var (url, tree) = (command.url, try command.request.tree())
        if let upload = command.request.upload {
            url = UploadTarget.url(url, uploading: upload)
            let type = RequestBody.file(upload).mediaType
            return (
                try serialized(url, tree, nil, hasStreamedBody: true).target,
                .init(source: "@\(upload)", contentType: type)
            )
        }
        var parts = command.request.form.map(\.part)
        guard parts.isEmpty else {
            do throws(RequestSerializationError) { parts = try (tree?.multipartParts() ?? []) + parts } catch {
                throw .init("--param: \(error)", exit: .usage)
            }
            tree = nil
            return (url, .init(source: "-", contentType: try Self.store(.init(parts))))
        }
        let (bytes, type) = try command.request.bytes()
        let request = try serialized(url, tree, bytes, contentType: type)
        guard let body = request.body else { return (request.target, nil) }
        try Self.store(body)
        return (request.target, .init(source: "-", contentType: request.contentType ?? type))
    }

    /// Writes the parameters into the query, or into a body.
    private func serialized(
        _ url: String,
        _ tree: Parameters?,
        _ body: [UInt8]?,
        contentType: String? = nil,
        hasStreamedBody: Bool = false
    ) throws(ToolError) -> (target: String, body: [UInt8]?, contentType: String?) {
        guard let tree else { return (url, body, contentType) }
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let rest = String(url[end...].prefix { $0 != "#" })
        var head = HTTPRequest(
            method: command.request.method,
            scheme: nil,
            authority: nil,
            path: rest.hasPrefix("/") ? rest : "/" + rest,
            headerFields: command.request.headers
        )
        if head.headerFields[.contentType] == nil { head.headerFields[.contentType] = contentType }
        do throws(RequestSerializationError) {
            let serializer = HTTPConfiguration().requestSerializer
            let result = try serializer.serialize(
                .init(head: head, body: body, hasStreamedBody: hasStreamedBody),
                parameters: tree
            )
            let type = result.head.headerFields[.contentType]
            return (url[..<end] + (result.head.path ?? "/"), result.body, type)
        } catch {
            throw .init("--param: \(error)", exit: .usage)
        }
    }

    // MARK: The body

    /// Makes bytes the stdin of the next executable: a file that has no name any more.
    private static func store(_ bytes: [UInt8]) throws(ToolError) {
        var template = Array("\(parent)/netwatch-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        do throws(OutputFailure) {
            guard file >= 0, unlink(template) == 0 else { throw .failed(.last) }
            try LineOutput(descriptor: file).write(bytes)
        } catch {
            throw failure
        }
        try becomeInput(file)
    }

    /// The directory of temporary files.
    private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp" }

    private static var failure: ToolError {
        .init(
            "cannot store the body in '\(parent.escapedForTerminal)': \(SystemError.last); set TMPDIR",
            exit: .outputFailure
        )
    }

    /// Makes a form the stdin of the next executable: a file that has no name any more.
    ///
    /// - Returns: The media type, with the boundary.
    private static func store(_ form: MultipartForm) throws(ToolError) -> String? {
        var template = Array("\(parent)/netwatch-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw failure }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = folder + "/form"
        defer {
            unlink(path)
            rmdir(folder)
        }
        let promise = BlockingPromise<Result<RequestBody, HTTPError>>()
        Task {
            do throws(HTTPError) { promise.fulfill(.success(try await form.write(to: path))) } catch {
                promise.fulfill(.failure(error))
            }
        }
        let body: RequestBody
        do throws(HTTPError) { body = try promise.wait().get() } catch { throw error.fetchError }
        try becomeInput(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW))
        return body.mediaType
    }

    private static func becomeInput(_ file: Int32) throws(ToolError) {
        guard file >= 0, lseek(file, 0, SEEK_SET) == 0, dup2(file, STDIN_FILENO) == STDIN_FILENO else {
            throw failure
        }
    }

    // MARK: The executable

    /// Replaces this process (execv(3)).
    ///
    /// - Returns: The error, if that fails.
    private static func execute(_ words: [String]) -> ToolError {
        let path = ExecutableDirectory.path + "/netwatch-outbox"
        var all = [CommandLine.unsafeArgv[0]] + words.map { strdup($0) } + [nil]
        for number in SignalActions.ignoredForWrites { signal(number, SIG_DFL) }
        execv(path, &all)
        let error = SystemError.last
        for number in SignalActions.ignoredForWrites { signal(number, SIG_IGN) }
        let name = path.escapedForTerminal
        guard error.code == ENOENT else {
            return .init("cannot execute '\(name)': \(error); reinstall netwatch-outbox", exit: .notExecutable)
        }
        return .init(
            "--later needs 'netwatch outbox', which is not installed: there is no '\(name)'; install the package "
                + "netwatch-outbox, or run './scripts/netwatch fetch --later' in a checkout, which builds it",
            exit: .commandNotFound
        )
    }
}
