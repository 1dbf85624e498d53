import Glibc
import NetworkLab

/// A server in the outer network of an ``UplinkLab`` that records every request that it has processed, in order.
///
/// Each connection has a thread, which is independent of the state of the link: a response that can't be delivered
/// is lost, although its request was processed. A request counts as processed when its last byte was read.
package final class JournalServer: Sendable {
    /// A request that was processed.
    package struct Entry: Sendable, Hashable {
        /// The method, such as `GET`.
        package var method: String
        /// The path with its query.
        package var target: String
        /// The value of `Idempotency-Key`; nil without one.
        package var key: String?
        /// The body.
        package var body: [UInt8]
        /// The number of its connection.
        package var connection: Int
    }

    /// The requests that were processed so far.
    package let journal: Observed<[Entry]>
    private let server: ScriptedServer

    /// The URL of the server, with a trailing slash.
    package var url: String { "http://\(UplinkLab.worldAddress):\(server.port)/" }

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - lab: The lab in whose outer network the server listens.
    ///   - respond: Returns the steps that respond to a request after it was recorded.
    /// - Throws: The errno if it can't listen.
    package init(
        in lab: UplinkLab,
        respond: @escaping @Sendable (Entry) -> [ServerStep] = { _ in [.response("done")] }
    ) throws {
        let journal = Observed<[Entry]>([])
        let serve = ServerStep.custom { connection in
            try connection.endWhenForsaken()
            while true {
                let entry = Entry(try connection.readRequest(), connection: connection.number)
                journal.update { $0.append(entry) }
                for step in respond(entry) { try connection.perform(step) }
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
    /// Reads the next request with its body.
    package func readRequest() throws -> ServerRecord.Request {
        try readHead()
        try readBody()
        guard let request = records.value[number].requests.last else { throw Ended(how: .closedHere) }
        return request
    }

    /// Enables keepalive: the kernel probes a silent client, and ends the connection if it does not respond (tcp(7)).
    ///
    /// A client that gave up during an outage is not noticed otherwise.
    fileprivate func endWhenForsaken() throws {
        try setOption(descriptor.number, level: SOL_SOCKET, SO_KEEPALIVE, 1, "SO_KEEPALIVE")
        for (option, seconds) in [(TCP_KEEPIDLE, 30), (TCP_KEEPINTVL, 1), (TCP_KEEPCNT, 5)] as [(Int32, Int32)] {
            try setOption(descriptor.number, level: Int32(IPPROTO_TCP), option, seconds, "TCP_KEEPALIVE")
        }
    }
}
