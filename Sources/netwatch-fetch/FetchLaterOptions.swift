import ArgumentParser
import CommandLineSupport
import NetworkClient

/// The options of `netwatch fetch` for a request that an outbox sends.
struct FetchLaterOptions: ParsableArguments {
    @Flag(
        name: .customLong("later"),
        help: "Put the request into the outbox, and print its number once it is on disk ('netwatch outbox')."
    )
    var isLater = false

    @Option(parsing: .unconditional, help: .init("The folder of the outbox.", valueName: "dir"), completion: .directory)
    var box: String?

    @Option(parsing: .unconditional, help: .init("The lane; the URL's host by default.", valueName: "name"))
    var lane: String?

    @Option(
        parsing: .unconditional,
        help: .init("The time after which it expires, such as 12h; 7d by default, or never.", valueName: "time")
    )
    var expires: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Do not send it before this moment, such as 2026-11-24T06:00:00Z, or for this time, such as 2h.",
            valueName: "moment"
        )
    )
    var notBefore: String?

    @Flag(help: "Take any response over plain http as the server's own.")
    var trustHTTP = false

    func validate() throws {
        let given: [(name: String, isGiven: Bool)] = [
            ("--box", box != nil), ("--lane", lane != nil), ("--expires", expires != nil),
            ("--not-before", notBefore != nil), ("--trust-http", trustHTTP),
        ]
        guard !isLater, let first = given.first(where: \.isGiven) else { return }
        throw ValidationError("\(first.name) is of no use without --later; give both")
    }

    /// The options for `netwatch outbox add`.
    var words: [String] {
        let options = [("--box", box), ("--lane", lane), ("--expires", expires), ("--not-before", notBefore)]
        return options.flatMap { name, value in value.map { [name, $0] } ?? [] } + (trustHTTP ? ["--trust-http"] : [])
    }
}

extension FetchCommand {
    /// Checks that there is no option about the response, the connection, or a secret.
    ///
    /// - Throws: The error for the first one.
    func checkLater() throws {
        let secrets = [
            ("--user", user.user != nil), ("--password-file", user.passwordFile != nil),
            ("--cookie", !cookies.cookie.isEmpty),
        ]
        if let secret = Self.first(secrets) {
            throw ValidationError("\(secret) can't be combined with --later: an outbox stores no secrets; leave it out")
        }
        if let option = Self.first(responseOptions) {
            let outcome = "the response is an outcome of the outbox ('netwatch outbox outcomes')"
            throw ValidationError("\(option) can't be combined with --later: \(outcome); leave it out")
        }
        guard let option = Self.first(connectionOptions) else { return }
        let sender = "the sender of the outbox has its own settings"
        throw ValidationError("\(option) can't be combined with --later: \(sender); leave it out")
    }

    private var responseOptions: [(name: String, isGiven: Bool)] {
        [
            ("--output", output.file != nil), ("--resume", output.resume), ("--include", output.includesHead),
            ("--head", request.isHead), ("--fail", output.fail), ("--fail-with-body", output.failWithBody),
            ("--verbose", output.isVerbose), ("--metrics", output.metrics), ("--metrics-json", output.metricsJson),
            ("--max-size", connection.maxSize != nil), ("--no-compressed", !connection.compressed),
            ("--cookie-jar", cookies.cookieJar != nil), ("--junk-session-cookies", cookies.dropsSessionCookies),
            ("--cache", caching.cache != nil), ("--offline", caching.offline),
        ]
    }

    private var connectionOptions: [(name: String, isGiven: Bool)] {
        [
            ("--interface", connection.binding != .unbound), ("--unix-socket", connection.unixSocket != nil),
            ("--http1.1", connection.version == .http1),
            ("--http2-prior-knowledge", connection.version == .priorKnowledge),
            ("--max-time", connection.maxTime != nil), ("--connect-timeout", connection.connectTimeout != .seconds(10)),
            ("--pin", !trust.pins.isEmpty), ("--cacert", trust.cacert != nil), ("--cert", trust.cert != nil),
            ("--insecure", trust.isInsecure), ("--location", redirects.follows),
            ("--max-redirs", redirects.maxRedirs != nil), ("--proxy", proxy.proxy != nil),
            ("--noproxy", proxy.noproxy != nil), ("--wait", waiting.wait != nil), ("--retry", waiting.retry != 0),
            ("--kind", !waiting.kinds.kind.isEmpty), ("--expensive", !waiting.kinds.expensive.isEmpty),
            ("--constrained", !waiting.kinds.constrained.isEmpty),
        ]
    }

    private static func first(_ options: [(name: String, isGiven: Bool)]) -> String? {
        options.first(where: \.isGiven)?.name
    }
}
