import Glibc
import NetworkLab

/// A server in an ``UplinkLab``'s world that writes down every request that it has processed, in their order.
///
/// Each connection has a thread, which neither knows nor minds what becomes of the link: an answer that can't be delivered
/// is lost, the request was processed all the same. A request counts as processed when it was read to its last byte.
package final class JournalServer: Sendable {
    /// A request that was processed.
    package struct Entry: Sendable, Hashable {
        /// `GET` and the like.
        package var method: String
        /// The path with its query.
        package var target: String
        /// What the `Idempotency-Key` header says; nil without one.
        package var key: String?
        /// The body.
        package var body: [UInt8]
        /// The number of the connection by which it came.
        package var connection: Int
    }

    /// What was processed so far.
    package let journal: Observed<[Entry]>
    private let server: ScriptedServer

    /// Where it serves, with a slash at the end.
    package var url: String { "http://\(UplinkLab.worldAddress):\(server.port)/" }

    /// Begins to serve.
    ///
    /// - Parameters:
    ///   - lab: In whose world.
    ///   - answer: What is sent to a request after it was written down.
    /// - Throws: The errno if it can't listen.
    package init(
        in lab: UplinkLab,
        answer: @escaping @Sendable (Entry) -> [ServerStep] = { _ in [.response("done")] }
    ) throws {
        let journal = Observed<[Entry]>([])
        let serve = ServerStep.custom { connection in
            try connection.endWhenForsaken()
            while true {
                let entry = Entry(try connection.readRequest(), connection: connection.number)
                journal.update { $0.append(entry) }
                for step in answer(entry) { try connection.perform(step) }
            }
        }
        self.journal = journal
        server = try ScriptedServer(on: .ipv4(0, 0, 0, 0), in: lab.world, always: [serve])
    }

    /// Stops serving, and waits until the last descriptor is closed.
    package func stop() async throws { try await server.stop() }
}

extension JournalServer.Entry {
    fileprivate init(_ request: ServerRecord.Request, connection: Int) {
        let lines = request.head.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        let name = "idempotency-key:"
        let key = lines.first { $0.lowercased().hasPrefix(name) }?.dropFirst(name.utf8.count)
        self.init(
            method: String(words.first ?? ""),
            target: String(words.dropFirst().first ?? ""),
            key: key.map { String($0.drop { $0 == " " }) },
            body: request.body,
            connection: connection
        )
    }
}

extension ServerConnection {
    /// Reads the next request, head and body.
    func readRequest() throws -> ServerRecord.Request {
        try readHead()
        try readBody()
        guard let request = records.value[number].requests.last else { throw Ended(how: .closedHere) }
        return request
    }

    /// Lets the kernel ask a silent client whether it is there, and end the connection if it is not (tcp(7)).
    ///
    /// A client that gave up while the link was away leaves no other sign.
    fileprivate func endWhenForsaken() throws {
        try setOption(descriptor.number, level: SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        for (option, seconds) in [(TCP_KEEPIDLE, 30), (TCP_KEEPINTVL, 1), (TCP_KEEPCNT, 5)] as [(Int32, Int32)] {
            try setOption(descriptor.number, level: Int32(IPPROTO_TCP), option, seconds, "TCP_KEEPALIVE")
        }
    }
}
