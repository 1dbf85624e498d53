import NetworkLab

/// A server on loopback that responds to each request by a closure, and records all requests.
package final class AnsweringServer: Sendable {
    /// A request that was received.
    package struct Request: Sendable, Hashable {
        /// The method, such as `GET`.
        package var method: String
        /// The path with its query.
        package var target: String
        /// The whole head.
        package var head: String
        /// The body.
        package var body: [UInt8]
        /// The number of its connection.
        package var connection: Int

        /// The path without its query.
        package var path: String { String(target.prefix { $0 != "?" }) }

        /// Returns the value of a field; nil if there is none.
        package subscript(name: String) -> String? {
            let start = "\(name.lowercased()):"
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(start) }
            return line.map { String($0.dropFirst(start.utf8.count).drop { $0 == " " }) }
        }
    }

    /// The requests so far, in the order of their responses.
    package let requests: Observed<[Request]>
    private let server: ScriptedServer

    /// The port.
    package var port: UInt16 { server.port }

    /// The origin, without a trailing slash.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// Starts the server.
    ///
    /// - Parameter respond: Returns the steps that respond to a request.
    /// - Throws: The errno if it can't listen.
    package init(respond: @escaping @Sendable (Request) -> [ServerStep]) throws {
        let requests = Observed<[Request]>([])
        let serve = ServerStep.custom { connection in
            while true {
                let request = Request(try connection.readRequest(), connection: connection.number)
                requests.update { $0.append(request) }
                for step in respond(request) { try connection.perform(step) }
            }
        }
        self.requests = requests
        server = try ScriptedServer(always: [serve])
    }

    /// The records of all connections.
    package var connections: [ServerRecord] { server.connections }

    /// Waits until the records of the connections satisfy a condition.
    package func wait(
        for what: String,
        until condition: @escaping @Sendable ([ServerRecord]) -> Bool
    ) async throws {
        try await server.wait(for: what, until: condition)
    }
}

extension AnsweringServer.Request {
    fileprivate init(_ request: ServerRecord.Request, connection: Int) {
        let words = request.head.prefix { $0 != "\r\n" }.split(separator: " ")
        self.init(
            method: String(words.first ?? ""),
            target: String(words.dropFirst().first ?? ""),
            head: request.head,
            body: request.body,
            connection: connection
        )
    }
}
