import HTTPLab
import NetworkClient

/// Servers of any host and scheme, without a network: a closure responds to each request.
final class CookieServer: Transport {
    /// The URL and the `Cookie` fields of each request, with a space between them.
    let received = Observed<[String]>([])
    private let respond: @Sendable (String) -> [(name: String, value: String)]

    /// Creates the servers.
    ///
    /// - Parameter respond: Returns the fields of the response to a URL; with a `Location`, its status is that of the field
    ///   `Status`, or 302.
    init(respond: @escaping @Sendable (String) -> [(name: String, value: String)]) { self.respond = respond }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let head = request.head
        let url = "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
        let cookies = head.headerFields[values: .cookie]
        received.update { $0.append(([url] + cookies).joined(separator: " ")) }
        var fields = HTTPFields()
        var status = 200
        for (name, value) in respond(url) {
            if name == "Status" { status = Int(value) ?? 0 } else if name == "Location" { status = max(status, 302) }
            guard let field = HTTPField.Name(name), name != "Status" else { continue }
            fields.append(.init(name: field, value: value))
        }
        return .init(head: .init(status: .init(code: status), headerFields: fields))
    }

    /// Returns a session whose requests these servers receive.
    func session(_ cookies: CookiePolicy = .memory, retry: RetryPolicy = .never) throws -> HTTPSession {
        try HTTPSession(configuration: .init(transport: self, retry: retry, cookies: cookies))
    }
}
