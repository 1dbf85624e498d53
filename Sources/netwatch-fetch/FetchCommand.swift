import ArgumentParser
import CommandLineSupport
import Glibc
import NetwatchCore
import NetworkClient

/// `netwatch fetch`: one request, and its response on stdout or in a file.
struct FetchCommand: NetwatchCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: CommandSummary.fetch,
        discussion: .guide(
            [
                .init("Print a response body", "netwatch fetch https://api.example.com/v1/users"),
                .init(
                    "Send JSON, and fail if the server refuses it",
                    #"netwatch fetch -f --json '{"name": "Ann"}' https://api.example.com/v1/users"#
                ),
                .init(
                    "Send nested parameters",
                    "netwatch fetch --param 'filter[open]=yes' https://api.example.com/v1/tasks"
                ),
                .init(
                    "Wait for a path, then retry failures",
                    "netwatch fetch --wait 60s --retry 5 https://example.com/"
                ),
                .init(
                    "Keep a request on disk until it is delivered",
                    "netwatch fetch --later --json '{}' https://api.example.com/v1/users"
                ),
                .init(
                    "Download a file, or continue its download",
                    "netwatch fetch --resume -o disk.img https://downloads.example.com/disk.img"
                ),
            ],
            """
            The body is written to stdout or the file as it arrives; the file appears when it is complete. With \
            --include, or on a terminal, the body is held in memory first, up to --max-size (64M).

            Exit status: 0 any response (unless --fail or --resume is given), 75 no path, 90 pin, else curl's: 6 unknown \
            host, 7 no connection, 18 truncated, 22 status, 23 write error, 28 timeout, 35 TLS, 47 redirects, 60 \
            certificate; 128+N signal N.
            """
        )
    )

    @Argument(help: .init("The URL, with http:// or https://.", valueName: "url"))
    var url: String

    @OptionGroup(title: "Request") var request: FetchRequestOptions
    @OptionGroup(title: "Trust") var trust: FetchTrustOptions
    @OptionGroup(title: "Connection") var connection: FetchConnectionOptions
    @OptionGroup(title: "User") var user: FetchUserOptions
    @OptionGroup(title: "Redirects") var redirects: FetchRedirectOptions
    @OptionGroup(title: "Cookies") var cookies: FetchCookieOptions
    @OptionGroup(title: "Cache") var caching: FetchCacheOptions
    @OptionGroup(title: "Proxy") var proxy: FetchProxyOptions
    @OptionGroup(title: "Waiting and retries") var waiting: FetchWaitingOptions
    @OptionGroup(title: "Output") var output: FetchOutputOptions
    @OptionGroup(title: "Later") var later: FetchLaterOptions

    func validate() throws {
        try waiting.check(connection.binding)
        try trust.check(isLater: later.isLater)
        if later.isLater { try checkLater() }
        try output.check(request)
    }

    func execute() throws(ToolError) -> ExitStatus {
        let stores = FetchStores(cookies: try cookies.store(), cache: try caching.open())
        // What was received is written before the process ends.
        defer { stores.cache?.flush() }
        let status: ExitStatus
        do throws(ToolError) {
            status = try execute(stores)
        } catch {
            try? cookies.save(stores.cookies)
            throw error
        }
        try cookies.save(stores.cookies)
        return status
    }

    private func execute(_ stores: FetchStores) throws(ToolError) -> ExitStatus {
        try FetchTarget.check(url, isPinned: !trust.pins.isEmpty, hasUser: user.user != nil)
        if later.isLater { return try StoredRequest(self).add() }
        let tls = try trust.tls()
        // Read the body before signals are blocked: stdin may be a terminal, where the user may press Ctrl-C.
        let body = try request.body()
        let signals = try FetchSignals()
        let credential: Credential?
        switch try user.credential(signals) {
        case .credential(let known): credential = known
        case .signal(let number): return .endedBySignal(number)
        }
        if let download = output.download { return try execute(download, tls, stores, credential, signals) }
        let target = FetchOutput(output.file)
        let stream = target.stream(withHead: output.includesHead || request.isHead)
        if stream == nil {
            try connection.checkMemory()
            try target.check()
        }
        let exchange = try exchange(signals, showsAnswer: target.isFile)
        let session = try session(tls, stores, exchange.journal)
        switch try run(exchange, start(in: session, body, stream, credential)) {
        case .signal(let number): return .endedBySignal(number)
        case .failed(let error):
            guard error.code == .fileFailed else { throw error.fetchError }
            if let failure = target.failure(error) { throw failure }
            return .success
        case .answered(let response):
            return try end(with: response, target, signals)
        }
    }

    /// Runs a download to a file, which can be continued.
    private func execute(
        _ download: FetchDownload,
        _ tls: TLSOptions,
        _ stores: FetchStores,
        _ credential: Credential?,
        _ signals: FetchSignals
    ) throws(ToolError) -> ExitStatus {
        let exchange = try exchange(signals, showsAnswer: true)
        let session = try session(tls, stores, exchange.journal)
        let handle = try download.start(url, request, headers, maximumSize: connection.maxSize, credential, in: session)
        switch try run(exchange, handle) {
        case .signal(let number):
            download.tellHowToGoOn(handle)
            return .endedBySignal(number)
        case .failed(let error): throw download.error(error.fetchError, of: handle)
        case .answered(let response):
            guard response.file == nil else { return .success }
            throw download.error(download.refusal(response), of: handle)
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
        if case .answered(let response) = ending, let note = response.staleNote {
            // If stderr can't be written, the error can't be reported either.
            try? LineOutput.standardError.write(note + "\n")
        }
        return ending
    }

    private func session(
        _ tls: TLSOptions,
        _ stores: FetchStores,
        _ journal: FetchJournal
    ) throws(ToolError) -> HTTPSession {
        var configuration = connection.configuration(tls, monitor: journal)
        try waiting.apply(to: &configuration)
        configuration.redirects = redirects.policy
        configuration.cookies = stores.cookies.map { .store($0) } ?? .never
        caching.apply(stores.cache, to: &configuration)
        proxy.apply(to: &configuration)
        do throws(HTTPError) {
            return try HTTPSession(configuration: configuration)
        } catch {
            throw error.fetchError
        }
    }

    /// The fields of the request.
    private var headers: HTTPFields {
        var fields = request.headers
        if let field = cookies.field {
            fields[.cookie] = [fields[.cookie], field].compactMap(\.self).joined(separator: "; ")
        }
        return fields
    }

    private func start(
        in session: HTTPSession,
        _ body: RequestBody,
        _ stream: BodyOutput?,
        _ credential: Credential?
    ) throws(ToolError) -> RequestHandle {
        let parameters = try request.tree()
        let options = RequestOptions(maximumBodySize: connection.maxSize, credential: credential)
        let target = request.upload.map { UploadTarget.url(url, uploading: $0) } ?? url
        guard let stream else {
            return session.request(
                request.method,
                target,
                parameters: parameters,
                headers: headers,
                body: body,
                options: options
            )
        }
        return session.download(
            target,
            to: stream,
            method: request.method,
            parameters: parameters,
            headers: headers,
            body: body,
            options: options
        )
    }

    private func tellMetrics(_ ending: FetchExchange.Ending, _ journal: FetchJournal) {
        guard output.metrics || output.metricsJson else { return }
        var figures = journal.figures
        if case .answered(let response) = ending { figures = .init(response, figures.connection) }
        let lines = output.metricsJson ? [figures.json] : figures.lines
        // If stderr can't be written, the error can't be reported either.
        try? LineOutput.standardError.write(lines.map { $0 + "\n" }.joined())
    }

    private func end(
        with response: DataResponse,
        _ target: FetchOutput,
        _ signals: FetchSignals
    ) throws(ToolError) -> ExitStatus {
        let isRefusal = response.status >= 400
        let head = output.includesHead || request.isHead
        // After 304, the file is up to date and stays as it is.
        let isUnchanged = target.isFile && response.status == 304 && !request.isHead
        if response.file == nil, !isUnchanged, !output.fail || !isRefusal,
            let signal = try target.write(response, head: head, interruptedBy: signals)
        {
            return .endedBySignal(signal)
        }
        guard isRefusal, output.fail || output.failWithBody else { return .success }
        let status = response.head.status
        let url = response.urlWithoutQuery
        let words = "\(request.method) \(url): the server responded with \(status.code) \(status.reasonPhrase)"
        throw .init(words.escapedForTerminal, curl: .refusedStatus)
    }
}

/// The files that a request reads and writes.
struct FetchStores {
    let cookies: CookieStore?
    let cache: HTTPCache?
}

/// Validates a URL, before anything is read or sent.
enum FetchTarget {
    /// Throws an error for a URL that can't be requested.
    ///
    /// - Parameters:
    ///   - url: The URL as the user wrote it.
    ///   - isPinned: Whether the server's key is pinned, which plain HTTP does not have.
    ///   - hasUser: Whether a user was given with an option, so that the URL must not have one.
    /// - Throws: The error for the user.
    static func check(_ url: String, isPinned: Bool, hasUser: Bool) throws(ToolError) {
        guard let mark = url.firstRange(of: "://") else { return }
        let scheme = url[..<mark.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            let name = scheme.escapedForTerminal
            throw .init(
                "'\(name)' is not supported; let the URL begin with http:// or https://",
                curl: .unsupportedScheme
            )
        }
        guard !isPinned || scheme == "https" else {
            throw .init(
                "--pin is of no use with http, which shows no key; let the URL begin with https://",
                exit: .usage
            )
        }
        let authority = url.utf8[mark.upperBound...].prefix { !"/?#".utf8.contains($0) }
        guard !hasUser || !authority.contains(UInt8(ascii: "@")) else {
            throw .init("there are two users; leave out --user, or the one in the URL", exit: .usage)
        }
    }
}
