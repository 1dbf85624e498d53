import HTTPLab
import Locking
import NetworkClient
import NetworkClientCore
import NetworkClientTesting
import Testing

/// The order of the stages before a request is sent and after a response was received.
@Suite(.timeLimit(.minutes(5)))
struct StageOrderTests {
    /// A request, the responses that it receives one after the other, and the expected behaviour.
    struct Row: Sendable, CustomTestStringConvertible {
        enum Request: Sendable {
            case get
            /// A PUT that waits for 100 (Continue) before it sends its body.
            case expecting
            /// A download that already has three bytes.
            case download
        }

        let testDescription: String
        var request = Request.get
        var hasProxy = false
        var hasCredential = false
        var followsRedirects = true
        /// The result of the check that the first response causes, because the path is no longer validated; nil in a session
        /// without validation.
        var check: PathValidationStatus?
        /// The status lines with their fields; the last one applies to all further requests.
        let responses: [String]
        /// The requests that the server reads: method, target, and the fields that stages set, in their order.
        let requests: [String]
        /// The events of stages and retries.
        var events: [String] = []
        /// The status or the error.
        let end: String
    }

    private static let challenge = "WWW-Authenticate: Basic realm=\"r\""
    private static let location = "Location: /b"
    private static let absolute = "http://origin.example/a"

    static let rows = [
        Row(
            testDescription: "a successful response ends the request",
            responses: ["200 OK"],
            requests: ["GET /a"],
            end: "200"
        ),
        Row(
            testDescription: "a rejected range is handled before the retry",
            request: .download,
            responses: ["416 No\r\nContent-Range: bytes */2", "200 OK"],
            requests: ["GET /a Range", "GET /a"],
            end: "200"
        ),
        Row(
            testDescription: "a refused expectation is handled before the retry",
            request: .expecting,
            responses: ["417 No", "200 OK"],
            requests: ["PUT /a Expect", "PUT /a"],
            end: "200"
        ),
        Row(
            testDescription: "417 to a request that expects nothing is left to the retry",
            request: .expecting,
            responses: ["417 No", "417 No", "200 OK"],
            requests: ["PUT /a Expect", "PUT /a", "PUT /a"],
            events: ["retrying"],
            end: "200"
        ),
        Row(
            testDescription: "a proxy's challenge is handled before the retry",
            hasProxy: true,
            responses: ["407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "200 OK"],
            requests: ["GET \(absolute) Proxy-Authorization:Basic", "GET \(absolute) Proxy-Authorization:Digest"],
            end: "200"
        ),
        Row(
            testDescription: "a proxy's refusal ends the request, whatever the retry policy",
            hasProxy: true,
            responses: ["407 Who\r\nProxy-Authenticate: Basic realm=\"r\""],
            requests: ["GET \(absolute) Proxy-Authorization:Basic"],
            end: "proxyAuthenticationRequired"
        ),
        Row(
            testDescription: "407 without a proxy is left to the retry",
            hasCredential: true,
            responses: ["407 Who\r\nProxy-Authenticate: Basic realm=\"r\"", "200 OK"],
            requests: ["GET /a", "GET /a"],
            events: ["retrying"],
            end: "200"
        ),
        Row(
            testDescription: "a challenge is handled before the redirect and the retry",
            hasCredential: true,
            responses: ["401 Who\r\n\(challenge)\r\n\(location)", "200 OK"],
            requests: ["GET /a", "GET /a Authorization:Basic"],
            events: ["authenticating"],
            end: "200"
        ),
        Row(
            testDescription: "a rejected credential is left to the retry, and is not resent",
            hasCredential: true,
            responses: ["401 Who\r\n\(challenge)", "401 Who\r\n\(challenge)", "200 OK"],
            requests: ["GET /a", "GET /a Authorization:Basic", "GET /a"],
            events: ["authenticating", "retrying"],
            end: "200"
        ),
        Row(
            testDescription: "a redirect is handled before the retry, and its challenge is ignored",
            hasCredential: true,
            responses: ["302 There\r\n\(challenge)\r\n\(location)", "200 OK"],
            requests: ["GET /a", "GET /b"],
            events: ["redirected"],
            end: "200"
        ),
        Row(
            testDescription: "a redirect that is not followed is left to the retry",
            followsRedirects: false,
            responses: ["302 There\r\n\(location)", "200 OK"],
            requests: ["GET /a", "GET /a"],
            events: ["retrying"],
            end: "200"
        ),
        Row(
            testDescription: "the path is checked before a redirect is followed",
            hasProxy: true,
            check: .validated,
            responses: ["302 There\r\n\(location)", "200 OK"],
            requests: ["GET \(absolute) Proxy-Authorization:Basic", "GET \(absolute) Proxy-Authorization:Basic"],
            end: "200"
        ),
        Row(
            testDescription: "the path is checked before a proxy's challenge is answered",
            hasProxy: true,
            check: .inconclusive,
            responses: ["407 Who\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"", "200 OK"],
            requests: ["GET \(absolute) Proxy-Authorization:Basic", "GET \(absolute) Proxy-Authorization:Basic"],
            end: "200"
        ),
        Row(
            testDescription: "the path is checked before the retry",
            hasProxy: true,
            check: .validated,
            responses: ["503 Busy", "200 OK"],
            requests: ["GET \(absolute) Proxy-Authorization:Basic", "GET \(absolute) Proxy-Authorization:Basic"],
            end: "200"
        ),
        Row(
            testDescription: "a portal's response is left to the retry, for which there is no path",
            hasProxy: true,
            check: .portal,
            responses: ["302 There\r\n\(location)", "200 OK"],
            requests: ["GET \(absolute) Proxy-Authorization:Basic"],
            events: ["retrying"],
            end: "pathNotAllowed"
        ),
        Row(
            testDescription: "the retry is handled last",
            hasCredential: true,
            responses: ["503 Busy\r\n\(challenge)\r\n\(location)", "200 OK"],
            requests: ["GET /a", "GET /a"],
            events: ["retrying"],
            end: "200"
        ),
        Row(
            testDescription: "each attempt has its range, and then its credentials",
            request: .download,
            hasCredential: true,
            responses: ["401 Who\r\n\(challenge)", "503 Busy", "200 OK"],
            requests: ["GET /a Range", "GET /a Range Authorization:Basic", "GET /a Range Authorization:Basic"],
            events: ["authenticating", "retrying"],
            end: "200"
        ),
        Row(
            testDescription: "all stages apply to one request in turn",
            request: .expecting,
            hasCredential: true,
            responses: ["417 No", "401 Who\r\n\(challenge)", "307 There\r\n\(location)", "503 Busy", "200 OK"],
            requests: [
                "PUT /a Expect", "PUT /a", "PUT /a Authorization:Basic", "PUT /b Authorization:Basic",
                "PUT /b Authorization:Basic",
            ],
            events: ["authenticating", "redirected", "retrying"],
            end: "200"
        ),
    ]

    /// Retries each status that a stage handles, so that a stage that is called too late is noticed.
    private static let retry = RetryPolicy(
        maximumAttempts: 2,
        baseDelay: .milliseconds(1),
        retryableStatuses: [302, 307, 401, 407, 416, 417, 503]
    )

    /// Returns a server that sends one response of a row after the other.
    private func server(_ responses: [String], _ network: ScriptedMonitor) throws -> AnsweringServer {
        let count = Lock(0)
        return try AnsweringServer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { network.validationStatus = .notChecked }
            return [.response("abc", status: responses[min(number, responses.count) - 1])]
        }
    }

    private func session(_ server: AnsweringServer, _ row: Row, _ network: ScriptedMonitor) throws -> HTTPSession {
        var configuration = HTTPConfiguration(timeouts: .lasting, retry: Self.retry)
        if let check = row.check {
            (network.validationStatus, network.checkResults) = (.validated, [check])
            (configuration.validation, configuration.connectivity) = (network, network)
            configuration.validationRequirement = .validated
        }
        if row.hasProxy { configuration.proxy = .all(try .init("http://me:pw@127.0.0.1:\(server.port)")) }
        if row.hasCredential {
            let anna = Credential(user: "anna", password: "secret")
            configuration.authentication = .init(credentials: [.init(anna, for: server.url)])
        }
        if !row.followsRedirects { configuration.redirects = .refuse }
        let base = row.hasProxy ? "http://origin.example" : server.url
        return try HTTPSession(baseURL: base, configuration: configuration)
    }

    private func request(
        _ row: Row,
        _ session: HTTPSession,
        _ server: AnsweringServer,
        _ lab: DownloadLab
    ) throws
        -> RequestHandle
    {
        switch row.request {
        case .get: return session.get("a", options: .init(startsAtOnce: false))
        case .expecting:
            let options = RequestOptions(expectsContinue: true, startsAtOnce: false)
            return session.put("a", body: .bytes([1]), options: options)
        case .download:
            try lab.leavePart([1, 2, 3], of: "\(server.url)/a", [#"etag "v1""#])
            return session.download("a", to: lab.path, options: .init(request: .init(startsAtOnce: false)))
        }
    }

    @Test(arguments: rows)
    func `stages handle a response in their order`(row: Row) async throws {
        let lab = try DownloadLab()
        let network = ScriptedMonitor()
        let server = try server(row.responses, network)
        let session = try session(server, row, network)
        let request = try request(row, session, server, lab)
        let events = request.events
        request.resume()
        var names: [String] = []
        for await event in events { if let name = event.name { names.append(name) } }
        #expect(server.requests.value.map(\.line) == row.requests)
        #expect(names == row.events)
        #expect(await end(of: request) == row.end)
    }

    private func end(of request: RequestHandle) async -> String {
        do throws(HTTPError) {
            return "\(try await request.ending().get().status)"
        } catch {
            return error.code.rawValue
        }
    }

    @Test func `a request that waited at the gate uses the current credentials`() async throws {
        let server = try AnsweringServer { request in
            request["Authorization"] == "Bearer new"
                ? [.response("in")]
                : [.response("out", status: "401 Unauthorized", headers: ["WWW-Authenticate: Bearer"])]
        }
        let network = MadeUpNetwork(.notReachable)
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(
                timeouts: .lasting,
                connectivity: network,
                authentication: .init(tokens: [.init(for: server.url, token: "old") { _ in "new" }])
            )
        )
        let options = RequestOptions(startsAtOnce: false, gate: .waitsForConnectivity(nil))
        let waiting = session.get("waiting", options: options)
        _ = try await waiting.startAndWait()
        #expect(try await session.get("first").string() == "in")
        network.become(.wifi)
        #expect(try await waiting.string() == "in")
        let values = server.requests.value.map { "\($0.target) \($0["Authorization"] ?? "")" }
        #expect(values == ["/first Bearer old", "/first Bearer new", "/waiting Bearer new"])
    }
}

extension AnsweringServer.Request {
    /// The method, the target and the fields that stages set, in their order.
    fileprivate var line: String {
        let names = ["Range", "Expect", "Authorization", "Proxy-Authorization"]
        let fields = head.split(separator: "\r\n").dropFirst().compactMap { line -> String? in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard let name = parts.first.map(String.init), names.contains(name) else { return nil }
            guard name.hasSuffix("Authorization") else { return name }
            return "\(name):\(parts.last?.split(separator: " ").first ?? "")"
        }
        return (["\(method) \(target)"] + fields).joined(separator: " ")
    }
}

extension RequestEvent {
    /// The name of an event of a stage or a retry.
    fileprivate var name: String? {
        switch self {
        case .retrying: "retrying"
        case .redirected: "redirected"
        case .authenticating: "authenticating"
        default: nil
        }
    }
}
