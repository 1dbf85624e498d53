import CommandLineSupport
import NetwatchCore
import NetworkClient

/// A file that `--resume` downloads, and what is said of it when it is not whole.
struct FetchDownload {
    /// The file's path.
    let path: String
    /// The command that this process was started with.
    let command: [String]

    /// Begins it, or goes on with it.
    func start(
        _ url: String,
        _ request: FetchRequestOptions,
        maximumSize: Int?,
        _ credential: Credential?,
        in session: HTTPSession
    ) throws(ToolError) -> RequestHandle {
        let parameters = try request.tree()
        var options = DownloadOptions()
        options.request.maximumBodySize = maximumSize
        options.request.credential = credential
        return session.download(url, to: path, parameters: parameters, headers: request.headers, options: options)
    }

    /// What to tell the user of an answer that brought no file.
    func refusal(_ response: DataResponse) -> ToolError {
        let status = response.head.status
        let words = "GET \(response.url): the server answered \(status.code) \(status.reasonPhrase), and no file"
        let advice = (300...399).contains(status.code) ? "; -L follows redirects" : ""
        return .init((words + advice).escapedForTerminal, curl: .refusedStatus)
    }

    /// An error, and how to go on if there is something to go on with.
    func error(_ error: ToolError, of request: RequestHandle) -> ToolError {
        howToGoOn(request).map { .init("\(error.message); \($0)", exit: error.status) } ?? error
    }

    /// Says on stderr how to go on, where a signal has ended it.
    func tellHowToGoOn(_ request: RequestHandle) {
        guard let text = howToGoOn(request) else { return }
        // Where stderr can't be written there is nobody to tell.
        try? LineOutput.standardError.write("netwatch: \(text)\n")
    }

    /// Only what the same command would go on with is kept: a part of another URL is not.
    private func howToGoOn(_ request: RequestHandle) -> String? {
        guard let part = request.keptPart(of: path) else { return nil }
        let kept = "\(QuantityText.bytes(Int(part.size))) are kept in '\(part.path.escapedForTerminal)'"
        return "\(kept); go on by: \(ShellText.command(AgainCommand.words(command)))"
    }
}
