import HTTPLab
import NetworkClient

/// A server that first responds with 503, redirects `/redirect` to `/`, and closes connections of `/close`.
enum AdapterLab {
    static func server() throws -> AnsweringServer {
        let failures = Observed(0)
        return try AnsweringServer { request in
            switch request.path {
            case "/busy":
                let count = failures.update { count in
                    count += 1
                    return count
                }
                return count == 1 ? [.response("no", status: "503 Busy")] : [.response("yes")]
            case "/redirect": return [.response(status: "302 Found", headers: ["Location: /end"])]
            case "/close": return [.reset]
            default: return [.response("end")]
            }
        }
    }

    /// Returns a session whose failed requests are retried once.
    static func session(
        _ server: AnsweringServer,
        change: (inout HTTPConfiguration) -> Void
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration(
            maximumConnectionsPerHost: 1,
            retry: .init(maximumAttempts: 2, baseDelay: .milliseconds(1))
        )
        change(&configuration)
        return try HTTPSession(baseURL: server.url, configuration: configuration)
    }
}
