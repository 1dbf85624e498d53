import Logging
import NetworkClient
import NetworkClientObservability
import NetworkClientServiceLifecycle
import ServiceLifecycle
import UnixSignals

// The code of docs/sessions.md, docs/observability.md and docs/client-transport.md: `RunningService URL`.

/// Sends a token with later requests.
func logIn(_ session: HTTPSession, user: String, password: String) async throws {
    let login = RequestOptions(credential: .init(user: user, password: password), isPreemptive: true)
    let token = try await session.post("login", options: login).string()
    session.updateHeaders { $0[.authorization] = "Bearer \(token)" }
}

/// Uses the credentials of a netrc file.
func netrcSession() throws -> HTTPSession {
    try HTTPSession(
        baseURL: "https://api.example.com/v1",
        configuration: .init(authentication: .init(netrc: .home()))
    )
}

/// Accepts one device only, by the certificates in a folder.
func readDevice(with session: HTTPSession) async throws -> String {
    let pins = try Pin.pins(inFolder: "/etc/device/certificates")
    let tls = TLSOptions(policy: .init(mode: .certificate, pins: pins))
    return try await session.get("https://device.local/status", options: .init(tls: tls)).string()
}

/// Accepts a certificate that the user has confirmed.
func readConfirmed(_ url: String, with session: HTTPSession) async throws -> String {
    var tls = TLSOptions()
    tls.challengeHandler = { challenge in
        guard challenge.policyRefusal != nil else { return .usePolicy }
        return await isConfirmed(challenge.presentedChain, for: challenge.request) ? .accept : .usePolicy
    }
    return try await session.get(url, options: .init(tls: tls)).string()
}

/// Asks the user about a certificate.
func isConfirmed(_ chain: [[UInt8]], for request: String) async -> Bool {
    print("\(request): accept the certificate of \(chain.first?.count ?? 0) bytes? [y/n]")
    return readLine() == "y"
}

/// Sends a backup as background traffic.
func backUp(_ path: String, with session: HTTPSession) async throws {
    let options = RequestOptions(serviceType: .background, priority: .low)
    _ = try await session.upload("backup", from: .file(path), options: options).response()
}

/// Ends a session, and says which requests it did not complete.
func end(_ session: HTTPSession) async {
    let unfinished = await session.shutdown(within: .seconds(10))
    for request in unfinished { print("not completed:", request.head.path ?? "/") }
}

/// Returns a session whose requests are logged, measured and traced.
func observedSession(_ url: String, _ logger: Logger) throws -> HTTPSession {
    var configuration = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(60)), retry: .standard)
    configuration.eventMonitors = [RequestLogger(logger), RequestMeter()]
    configuration.trace(with: RequestTracer())
    return try HTTPSession(baseURL: url, configuration: configuration)
}

/// A service that uses a session until it is shut down.
struct Reporter: Service {
    let session: HTTPSession

    func run() async throws {
        let status = try await session.get("status").response().status
        print("status \(status)")
        try await gracefulShutdown()
    }
}

/// Runs the services until the process is asked to end.
func runServices(_ session: HTTPSession, _ logger: Logger) async throws {
    let group = ServiceGroup(
        services: [HTTPSessionService(session), Reporter(session: session)],
        gracefulShutdownSignals: [.sigterm, .sigint],
        logger: logger
    )
    try await group.run()
}

/// The shape of `ClientTransport` in swift-openapi-runtime, whose bodies are streams.
protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        baseURL: String,
        operationID: String
    ) async throws -> (HTTPResponse, [UInt8]?)
}

/// Sends the requests of a generated client with a session.
struct SessionTransport: ClientTransport {
    let session: HTTPSession

    func send(
        _ request: HTTPRequest,
        body: [UInt8]?,
        baseURL: String,
        operationID: String
    ) async throws -> (HTTPResponse, [UInt8]?) {
        let content = body.map { RequestBody.bytes($0, contentType: request.headerFields[.contentType]) }
        let response = try await session.request(
            request.method,
            baseURL + (request.path ?? ""),
            headers: request.headerFields,
            body: content ?? .none
        ).response()
        return (response.head, response.bytes)
    }
}

let logger = Logger(label: "running-service") { StreamLogHandler.standardError(label: $0) }
let url = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1"
try await runServices(observedSession(url, logger), logger)
