import ArgumentParser
import Glibc
import NetworkClient

/// `netwatch fetch`: one request, and its answer on stdout or in a file.
struct FetchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Send one HTTP request and print the answer's body.",
        discussion: """
            The answer is held in memory, up to --max-size (64M, at most 1G), and written when it is whole; with --resume \
            it goes to the file as it comes. Exits with 0 if there was an answer, whatever its status, unless --fail or \
            --resume is given; otherwise with curl's code for what went wrong: 6 no such host, 7 no connection, 18 cut \
            short, 22 status, 23 not written, 28 too slow, 35 TLS, 60 certificate, 75 no path for as long as --wait says, \
            90 pin; 128 and the signal's number if one ended it. No redirect is followed.
            """
    )

    @Argument(help: .init("Where to; begins with http:// or https://.", valueName: "url"))
    var url: String

    @OptionGroup(title: "Request") var request: FetchRequestOptions
    @OptionGroup(title: "Trust") var trust: FetchTrustOptions
    @OptionGroup(title: "Connection") var connection: FetchConnectionOptions
    @OptionGroup(title: "Proxy") var proxy: FetchProxyOptions
    @OptionGroup(title: "Waiting and trying again") var waiting: FetchWaitingOptions
    @OptionGroup(title: "Output") var output: FetchOutputOptions

    func validate() throws {
        try waiting.check(connection.binding)
        try output.check(request)
    }

    func execute() throws(ToolError) -> ExitStatus {
        try FetchTarget.check(url, isPinned: !trust.pins.isEmpty)
        let tls = try trust.tls()
        // Before signals are blocked: stdin may be a terminal, and whoever types may change his mind.
        let body = try request.body()
        let signals = try FetchSignals()
        if let download = output.download { return try execute(download, tls, signals) }
        let target = try FetchOutput.open(output.file)
        defer { target.discard() }
        let exchange = try exchange(signals, showsAnswer: target.isFile)
        let session = try session(tls, exchange.journal)
        switch try run(exchange, start(in: session, body)) {
        case .signal(let number): return .endedBySignal(number)
        case .failed(let error): throw error.fetchError
        case .answered(let response):
            signals.unblock()
            return try end(with: response, target)
        }
    }

    /// What goes to a file as it comes, and can go on where it broke off.
    private func execute(
        _ download: FetchDownload,
        _ tls: TLSOptions,
        _ signals: FetchSignals
    ) throws(ToolError) -> ExitStatus {
        let exchange = try exchange(signals, showsAnswer: true)
        let session = try session(tls, exchange.journal)
        let handle = try download.start(url, request, maximumSize: connection.maxSize, in: session)
        switch try run(exchange, handle) {
        case .signal(let number):
            download.tellHowToGoOn()
            return .endedBySignal(number)
        case .failed(let error): throw download.error(error.fetchError)
        case .answered(let response):
            guard response.file == nil else { return .success }
            throw download.error(download.refusal(response))
        }
    }

    private func exchange(_ signals: FetchSignals, showsAnswer: Bool) throws(ToolError) -> FetchExchange {
        let type = getenv("TERM").map { String(cString: $0) }
        return try FetchExchange(
            signals: signals,
            isVerbose: output.isVerbose,
            style: .init(isTerminal: isatty(STDERR_FILENO) == 1, type: type),
            directions: Set((request.isStreamed ? [.sent] : []) + (showsAnswer ? [.received] : []))
        )
    }

    private func run(_ exchange: FetchExchange, _ handle: RequestHandle) throws(ToolError) -> FetchExchange.Ending {
        let ending = try exchange.run(handle)
        tellMetrics(ending, exchange.journal)
        return ending
    }

    private func session(_ tls: TLSOptions, _ journal: FetchJournal) throws(ToolError) -> HTTPSession {
        var configuration = connection.configuration(tls, monitor: journal)
        try waiting.apply(to: &configuration)
        proxy.apply(to: &configuration)
        do throws(HTTPError) {
            return try HTTPSession(configuration: configuration)
        } catch {
            throw error.fetchError
        }
    }

    private func start(in session: HTTPSession, _ body: RequestBody) throws(ToolError) -> RequestHandle {
        let parameters = try request.tree()
        let target = request.upload.map { UploadTarget.url(url, uploading: $0) } ?? url
        return session.request(request.method, target, parameters: parameters, headers: request.headers, body: body)
    }

    private func tellMetrics(_ ending: FetchExchange.Ending, _ journal: FetchJournal) {
        guard output.metrics || output.metricsJson else { return }
        var figures = journal.figures
        if case .answered(let response) = ending { figures = .init(response, figures.connection) }
        let lines = output.metricsJson ? [figures.json] : figures.lines
        // Where stderr can't be written there is nobody to tell.
        try? LineOutput.standardError.write(lines.map { $0 + "\n" }.joined())
    }

    private func end(with response: DataResponse, _ target: FetchOutput) throws(ToolError) -> ExitStatus {
        let isRefusal = response.status >= 400
        let head = output.includesHead || request.isHead
        if !output.fail || !isRefusal { try target.write(response, head: head, body: true) }
        guard isRefusal, output.fail || output.failWithBody else { return .success }
        let status = response.head.status
        let words = "\(request.method) \(response.url): the server answered \(status.code) \(status.reasonPhrase)"
        throw .init(words.escapedForTerminal, curl: .refusedStatus)
    }
}
