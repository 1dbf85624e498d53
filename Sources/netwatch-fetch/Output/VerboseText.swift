import NetwatchCore
import NetworkClient

/// What `--verbose` tells of a request, as curl marks it: `*` for what happens, `>` for what is sent, `<` for what comes.
enum VerboseText {
    /// The lines for one event.
    static func lines(_ event: RequestEvent, of request: RequestHandle) -> [String] {
        switch event {
        case .waiting: ["* looks for \(request.head.authority ?? "the server")"]
        case .waitingForConnectivity(let what): ["* waits for \(what)"]
        case .paused: ["* paused"]
        case .resumed: ["* resumed"]
        case .retrying(let delay, let reason, let error):
            ["* \(error.reason); it goes again in \(QuantityText.short(delay)): \(reason.words)"]
        case .pathLost(let error): ["* \(error.reason); it goes again when there is a path"]
        case .gaveUp(.permanent), .gaveUp(.noPolicy): []
        case .gaveUp(let reason): ["* it does not go again: \(reason.words)"]
        case .received, .sending: []
        case .attempt(let number, let isReused, let connection):
            attempt(number, isReused, connection) + marked(">", HeadText.lines(request.head) + [""])
        case .sent: ["* sent whole"]
        case .head(let response): marked("<", HeadText.lines(response) + [""])
        case .sentAgain(let error): ["* \(error.reason); it goes again"]
        case .redirected(let from, let to, let status): ["* \(from) answered \(status): goes on to \(to)"]
        case .authenticating(let scheme, let realm):
            ["* answers by \(scheme)\(realm.map { " to '\($0)'" } ?? "")"]
        case .finished(let ending): [finished(ending)]
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
            return "* done\(time): \(response.metrics.bodyBytesReceived) bytes of body"
        case .failure(let error): return "* failed (\(error.code.rawValue), \(error.processing.rawValue))"
        }
    }

    private static func marked(_ mark: String, _ lines: [String]) -> [String] {
        lines.map { $0.isEmpty ? mark : "\(mark) \($0)" }
    }
}
