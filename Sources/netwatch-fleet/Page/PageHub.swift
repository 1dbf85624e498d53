import EventCore
import FleetCore
import NIOCore

/// The newest rows, and the connections that follow them.
///
/// `@unchecked Sendable`: used only on its event loop.
final class PageHub: @unchecked Sendable {
    /// A machine as JSON.
    struct Row: Sendable {
        let key: NodeKey
        let json: String
    }

    let loop: any EventLoop
    let rules: AccessRules
    let broker: String
    /// The listening channel.
    var listener: (any Channel)?
    /// The numbers of all machines, and the state of the connection to the broker.
    private(set) var fleet = "null"
    private(set) var rows: [Row] = []
    private var positions: [NodeKey: Int] = [:]
    private var connections: [ObjectIdentifier: PageConnection] = [:]
    private var comments: RepeatedTask?

    /// The number of connections; further ones are closed without a response, after which browsers try again.
    private static let maximumConnections = 256
    private static let commentInterval = TimeAmount.seconds(30)

    init(loop: any EventLoop, port: UInt16, broker: String) {
        (self.loop, self.broker) = (loop, broker)
        rules = AccessRules(port: port)
    }

    /// Takes rows that have changed, and sends them to the connections that follow.
    func publish(_ changed: [Row], _ fleet: String) {
        let isOther = fleet != self.fleet
        self.fleet = fleet
        let places = changed.map(place)
        guard isOther || !places.isEmpty else { return }
        for connection in connections.values { connection.follow(places) }
    }

    private func place(_ row: Row) -> Int {
        if let position = positions[row.key] {
            rows[position] = row
            return position
        }
        positions[row.key] = rows.count
        rows.append(row)
        return rows.count - 1
    }

    /// Adds a connection; false if there are too many.
    func add(_ connection: PageConnection) -> Bool {
        guard connections.count < Self.maximumConnections else { return false }
        connections[ObjectIdentifier(connection)] = connection
        guard comments == nil else { return true }
        comments = loop.scheduleRepeatedTask(initialDelay: Self.commentInterval, delay: Self.commentInterval) { _ in
            for connection in self.connections.values { connection.comment() }
        }
        return true
    }

    func remove(_ connection: PageConnection) { connections[ObjectIdentifier(connection)] = nil }

    /// Closes everything.
    func stop() -> EventLoopFuture<Void> {
        comments?.cancel()
        for connection in connections.values { connection.end() }
        return listener?.close().recover { _ in } ?? loop.makeSucceededVoidFuture()
    }
}
