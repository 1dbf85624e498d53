import Glibc
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
        in session: HTTPSession
    ) throws(ToolError) -> RequestHandle {
        let parameters = try request.tree()
        var options = DownloadOptions()
        options.request.maximumBodySize = maximumSize
        return session.download(url, to: path, parameters: parameters, headers: request.headers, options: options)
    }

    /// What to tell the user of an answer that brought no file.
    func refusal(_ response: DataResponse) -> ToolError {
        let status = response.head.status
        let words = "GET \(response.url): the server answered \(status.code) \(status.reasonPhrase), and no file"
        let advice = (300...399).contains(status.code) ? "; give the URL that it names" : ""
        return .init((words + advice).escapedForTerminal, curl: .refusedStatus)
    }

    /// An error, and how to go on if there is something to go on with.
    func error(_ error: ToolError) -> ToolError {
        howToGoOn.map { .init("\(error.message); \($0)", exit: error.status) } ?? error
    }

    /// Says on stderr how to go on, where a signal has ended it.
    func tellHowToGoOn() {
        guard let text = howToGoOn else { return }
        // Where stderr can't be written there is nobody to tell.
        try? LineOutput.standardError.write("netwatch: \(text)\n")
    }

    /// Without the record beside it, nobody knows which version a part is of, and the download begins anew.
    private var howToGoOn: String? {
        var status = stat()
        guard access("\(path).part.info", R_OK) == 0, stat("\(path).part", &status) == 0, status.st_size > 0 else {
            return nil
        }
        let kept = "\(QuantityText.bytes(Int(status.st_size))) are kept in '\(path.escapedForTerminal).part'"
        return "\(kept); go on by: \(ShellText.command(AgainCommand.words(command)))"
    }
}
