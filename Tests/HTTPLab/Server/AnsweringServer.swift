import NetworkLab

/// A server on loopback that answers each request by what it says, and remembers them all.
package final class AnsweringServer: Sendable {
    /// A request that came.
    package struct Request: Sendable, Hashable {
        /// `GET` and the like.
        package var method: String
        /// The path with its query.
        package var target: String
        /// The whole head.
        package var head: String
        /// The body.
        package var body: [UInt8]
        /// The number of the connection by which it came.
        package var connection: Int

        /// The path without its query.
        package var path: String { String(target.prefix { $0 != "?" }) }

        /// The value of a field; nil if it has none.
        package subscript(name: String) -> String? {
            let start = "\(name.lowercased()):"
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(start) }
            return line.map { String($0.dropFirst(start.utf8.count).drop { $0 == " " }) }
        }
    }

    /// What came so far, in the order in which it was answered.
    package let requests: Observed<[Request]>
    private let server: ScriptedServer

    /// The port.
    package var port: UInt16 { server.port }

    /// Its origin, without a slash at the end.
    package var url: String { "http://127.0.0.1:\(port)" }

    /// Begins to serve.
    ///
    /// - Parameter answer: What is sent to a request.
    /// - Throws: The errno if it can't listen.
    package init(answer: @escaping @Sendable (Request) -> [ServerStep]) throws {
        let requests = Observed<[Request]>([])
        let serve = ServerStep.custom { connection in
            while true {
                let request = Request(try connection.readRequest(), connection: connection.number)
                requests.update { $0.append(request) }
                for step in answer(request) { try connection.perform(step) }
            }
        }
        self.requests = requests
        server = try ScriptedServer(always: [serve])
    }

    /// What was seen of every connection.
    package var connections: [ServerRecord] { server.connections }

    /// Waits until what was seen of the connections satisfies a condition.
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
