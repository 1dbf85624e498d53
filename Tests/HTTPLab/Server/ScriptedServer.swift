import CNetworkLab
import Glibc
package import NetworkLab

/// A server that runs a script on each connection and sends exactly its bytes, valid or not.
///
/// ```swift
/// let server = try ScriptedServer(always: [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Le"), .reset])
/// ```
/// It uses its own sockets and threads, so that a test shares no code between client and server.
package final class ScriptedServer: Sendable {
    /// The steps for a connection, by its number from 0.
    package typealias Script = @Sendable (Int) -> [ServerStep]

    /// The port; 0 with a Unix socket.
    package let port: UInt16
    private let address: ServerAddress
    private let listener: ServerListener
    private let thread: LabThread

    /// Listens on a free port.
    ///
    /// - Parameters:
    ///   - address: The address to listen on.
    ///   - namespace: The network namespace in which it listens; nil for the test's own.
    ///   - port: The port; 0 for a free one.
    ///   - backlog: The maximum number of connections that are not accepted yet; see listen(2).
    ///   - limit: The maximum number of accepted connections.
    ///   - receiveBuffer: The size of each connection's receive buffer, in bytes; nil for the kernel's choice.
    ///   - script: The steps for each connection.
    /// - Throws: The errno if it can't listen.
    package init(
        on address: ServerAddress = .loopback,
        in namespace: LabNamespace? = nil,
        port: UInt16 = 0,
        backlog: Int32 = 1024,
        accepting limit: Int = .max,
        receiveBuffer: Int32? = nil,
        script: @escaping Script
    ) throws {
        let open = { try ServerListener(address, namespace, port, backlog, receiveBuffer, script) }
        let listener = try namespace.map { try $0.run(open) } ?? open()
        self.address = address
        self.listener = listener
        self.port = listener.port
        thread = try LabThread { listener.acceptConnections(limit) }
    }

    /// Listens on a free port and runs the same steps on every connection; the parameters are as above.
    package convenience init(
        on address: ServerAddress = .loopback,
        in namespace: LabNamespace? = nil,
        receiveBuffer: Int32? = nil,
        always steps: [ServerStep]
    ) throws {
        try self.init(on: address, in: namespace, receiveBuffer: receiveBuffer) { _ in steps }
    }

    deinit {
        listener.stopped.open()
        if case .unix(let path) = address { unlink(path) }
    }

    /// Stops listening, ends all connections, and waits until the last descriptor is closed.
    package func stop() async throws {
        listener.stopped.open()
        // First, as it may accept a connection until then.
        try await listener.isListening.wait(for: "the listener's end") { !$0 }
        try await listener.records.wait(for: "the connections' end") { $0.allSatisfy { $0.end != nil } }
    }

    /// The records of all connections, in the order of acceptance.
    package var connections: [ServerRecord] { listener.records.value }

    /// All bytes received on all connections.
    package var received: [UInt8] { connections.flatMap(\.received) }

    /// Waits until the records satisfy a condition, and returns them.
    ///
    /// - Throws: `ETIMEDOUT` after the limit, with the records.
    @discardableResult
    package func wait(
        for what: String,
        within limit: Duration = .seconds(120),
        until condition: @escaping @Sendable ([ServerRecord]) -> Bool
    ) async throws -> [ServerRecord] {
        try await listener.records.wait(for: what, within: limit, until: condition)
    }

    /// Waits until a number of connections have ended on this side, and returns all records.
    @discardableResult
    package func waitForEnds(_ count: Int = 1, within limit: Duration = .seconds(120)) async throws -> [ServerRecord] {
        try await wait(for: "\(count) ended connections", within: limit) { records in
            records.count(where: { $0.end != nil }) >= count
        }
    }
}
