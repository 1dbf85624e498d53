import HTTPLab
import NetworkClient
import NetworkClientTesting

/// A network with a captive portal in front of plain HTTP: a proxy that responds in place of all servers while it is closed.
struct PortalLab {
    let network = ScriptedMonitor()
    let server: AnsweringServer
    private let page: Observed<[ServerStep]?>

    /// The page of a portal that responds to all requests, to be kept for long and with a cookie.
    static let login = ServerStep.response(
        "<html>Log in</html>",
        headers: ["Set-Cookie: portal=1; Path=/", "Cache-Control: max-age=1000", "ETag: \"portal\""]
    )

    /// Starts the network.
    ///
    /// - Parameters:
    ///   - isClosed: Whether the portal responds in place of servers.
    ///   - respond: The steps with which a server responds, reached by an open portal.
    /// - Throws: The errno if the server can't listen.
    init(
        isClosed: Bool = true,
        respond: @escaping @Sendable (AnsweringServer.Request) -> [ServerStep] = { _ in [.response("here")] }
    ) throws {
        let page = Observed<[ServerStep]?>(isClosed ? [Self.login] : nil)
        self.page = page
        server = try AnsweringServer { request in page.value ?? respond(request) }
    }

    /// Opens the portal; the status of the validation stays.
    func open() { page.update { $0 = nil } }

    /// Lets the portal respond to all requests.
    func close(with steps: [ServerStep] = [Self.login]) { page.update { $0 = steps } }

    /// The requests that the portal or a server has received.
    var lines: [String] { server.requests.value.map { "\($0.method) \($0.target.replacing(Self.base, with: ""))" } }

    static let base = "http://shop.example"

    /// Makes a session whose requests pass the portal.
    func session(
        _ requirement: ValidationRequirement = .validated,
        gate: GatePolicy = .waitsForConnectivity(nil),
        retry: RetryPolicy = .standard,
        change: (inout HTTPConfiguration) -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration(
            timeouts: .lasting,
            proxy: .all(try .init("http://127.0.0.1:\(server.port)")),
            gate: gate,
            validation: network,
            validationRequirement: requirement,
            retry: retry,
            connectivity: network
        )
        change(&configuration)
        return try HTTPSession(baseURL: Self.base, configuration: configuration)
    }
}
