import NetwatchCore
import NetworkClient
import NetworkClientCore

/// The lines of `--verbose`, marked as in curl: `*` for events, `>` for sent fields, `<` for received ones.
enum VerboseText {
    /// Returns the lines for one event.
    static func lines(_ event: RequestEvent, of request: RequestHandle) -> [String] {
        switch event {
        case .waiting: ["* looks for \(request.head.authority ?? "the server")"]
        case .waitingForConnectivity(let what): ["* waits for \(what)"]
        case .paused: ["* paused"]
        case .resumed: ["* resumed"]
        case .retrying(let delay, let reason, let error):
            ["* \(error.reason); retries in \(QuantityText.short(delay)): \(reason.words)"]
        case .pathLost(let error): ["* \(error.reason); retries when there is a path"]
        case .gaveUp(.permanent), .gaveUp(.noPolicy): []
        case .gaveUp(let reason): ["* does not retry: \(reason.words)"]
        case .received, .sending: []
        case .resumedDownload(let offset, _): ["* continues at byte \(offset)"]
        case .attempt(let number, let isReused, let connection):
            attempt(number, isReused, connection)
                + marked(">", HeadText.lines(request.head, version: connection.version) + [""])
        case .sent: ["* request sent"]
        case .head(let response): marked("<", HeadText.lines(response) + [""])
        case .sentAgain(let error): ["* \(error.reason); resends the request"]
        case .redirected(let from, let to, let status): ["* \(from) responded with \(status): continues at \(to)"]
        case .authenticating(let scheme, let realm):
            ["* authenticates with \(scheme)\(realm.map { " to '\($0)'" } ?? "")"]
        case .finished(let ending): [finished(ending)]
        case .serialized: []
        }
    }

    private static func attempt(_ number: Int, _ isReused: Bool, _ connection: ConnectMetrics) -> [String] {
        var lines: [String] = number > 1 ? ["* attempt \(number)"] : []
        if !isReused, let time = connection.resolve { lines.append("* resolved in \(QuantityText.milliseconds(time))") }
        lines.append("* \(isReused ? "uses the connection" : "connected") to \(ends(connection))")
        if let version = connection.tlsVersion {
            let time = connection.tls.map { ", handshake in \(QuantityText.milliseconds($0))" } ?? ""
            lines.append("* \(version)\(isReused ? "" : time)")
        }
        return lines
    }

    private static func ends(_ connection: ConnectMetrics) -> String {
        let here = connection.localAddress.map { " from \($0)" } ?? ""
        let time = connection.connect.map { " in \(QuantityText.milliseconds($0))" } ?? ""
        return "\(connection.remoteAddress ?? "the server")\(here)\(time)"
    }

    private static func finished(_ ending: Result<DataResponse, HTTPError>) -> String {
        switch ending {
        case .success(let response):
            let time = response.metrics.total.map { " in \(QuantityText.milliseconds($0))" } ?? ""
            let version = response.version == "HTTP/2" ? " over HTTP/2" : ""
            return "* done\(time)\(version): \(response.metrics.bodyBytesReceived) bytes of body"
        case .failure(let error): return "* failed (\(error.code.rawValue), \(error.processing.rawValue))"
        }
    }

    private static func marked(_ mark: String, _ lines: [String]) -> [String] {
        lines.map { $0.isEmpty ? mark : "\(mark) \($0)" }
    }
}

/// Heads of requests and responses as text.
enum HeadText {
    /// Returns a response's head as it is printed before the body, with the empty line; lines end as in HTTP/1.1.
    static func head(of response: DataResponse, forTerminal: Bool) -> String {
        let head = response.head
        let fields = head.headerFields.map { "\($0.name.rawName): \($0.value)" }
        let lines = ["\(response.version) \(head.status.code) \(head.status.reasonPhrase)"] + fields + [""]
        return lines.map { (forTerminal ? $0.escapedForTerminal : $0) + "\r\n" }.joined()
    }

    /// Returns a request's head, one line per field, without secrets.
    static func lines(_ request: HTTPRequest, version: String?) -> [String] {
        let target = SecretNames.masked(request.path ?? "", by: mask)
        return ["\(request.method) \(target) \(version ?? "HTTP/1.1")"] + lines(request.headerFields)
    }

    /// Returns a response's head, one line per field, without secrets.
    static func lines(_ response: HTTPResponse) -> [String] {
        ["\(response.status.code) \(response.status.reasonPhrase)"] + lines(response.headerFields)
    }

    private static func lines(_ fields: HTTPFields) -> [String] {
        fields.map { field in
            let name = field.name.rawName
            return "\(name): \(SecretNames.shown(field: name, field.value, by: mask))"
        }
    }

    /// The text in place of secrets, with which a reader of a log could impersonate the user.
    private static let mask = "(not shown)"
}

extension RetryReason {
    /// The reason for a retry, in words.
    var words: String {
        switch self {
        case .neverSent: "nothing was sent"
        case .refusedUnprocessed: "the server did not process it"
        case .idempotent: "it is idempotent"
        case .status: "the status allows a retry"
        case .interceptor: "an interceptor decided so"
        }
    }
}

extension GiveUpReason {
    /// The reason for giving up, in words.
    var words: String {
        switch self {
        case .noPolicy: "retries are off"
        case .permanent: "it would fail again"
        case .notIdempotent: "it may have been processed, and is not idempotent"
        case .notReplayable: "its body can be read only once"
        case .status: "the status does not allow a retry"
        case .attempts: "all attempts were made"
        case .budget: "too many requests have failed recently"
        case .breaker: "the server has failed too often recently"
        case .deadline: "the next attempt would be after the deadline"
        case .interceptor: "an interceptor decided so"
        }
    }
}
