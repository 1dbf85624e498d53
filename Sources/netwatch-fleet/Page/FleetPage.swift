import CommandLineSupport
import FleetCore
import LinuxSystem
import NIOCore
import NIOPosix
import NetwatchCore

/// Shows a fleet to browsers on this machine: a page, and a stream of server-sent events that it follows.
///
/// Confined to the main thread; connections are served on an event loop.
final class FleetPage {
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let hub: PageHub
    private var changes = FleetChanges()
    /// The machines that the browsers have: one that meets the conditions no longer is to be removed.
    private var shown: Set<NodeKey> = []

    /// Starts to listen.
    init(_ address: LoopbackAddress, broker: String) throws(ToolError) {
        hub = PageHub(loop: group.next(), port: address.port, broker: broker)
        let descriptor: Int32
        do throws(SystemError) { descriptor = try address.listeningSocket() } catch {
            throw address.failure(error, unlessPermitted: "allow the process to bind sockets")
        }
        do {
            let channel = try Self.bootstrap(group, hub).withBoundSocket(descriptor).wait()
            hub.loop.execute { [hub] in hub.listener = channel }
        } catch {
            throw .init("cannot accept connections: \(error); try again later", exit: .systemFailure)
        }
    }

    private static func bootstrap(_ group: MultiThreadedEventLoopGroup, _ hub: PageHub) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelInitializer { channel in
                // A process out of descriptors accepts later.
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler())
                }
            }
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 65_536))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PageConnection(hub))
                }
            }
    }

    /// Publishes the machines that have changed, the numbers of all, and the state of the connection.
    func publish(_ viewer: FleetViewer) {
        let now = SystemClock.wall
        let filter = viewer.configuration.filter
        let rows = viewer.withModel { changes.take(from: &$0) }.compactMap { row($0, filter, at: now) }
        let notice = viewer.notice.map { "\"\($0.escapedForJSON)\"" } ?? "null"
        let fleet = "{\"notice\":\(notice),\"totals\":\(viewer.board.json(at: now))}"
        hub.loop.execute { [hub] in hub.publish(rows, fleet) }
    }

    /// Returns a machine's row; nil if browsers need none.
    private func row(_ status: NodeStatus, _ filter: FleetFilter, at now: Timestamp) -> PageHub.Row? {
        if filter.matches(status) {
            shown.insert(status.key)
            return .init(key: status.key, json: status.json(at: now))
        }
        guard shown.remove(status.key) != nil else { return nil }
        let (group, node) = (status.key.group.escapedForJSON, status.key.name.escapedForJSON)
        return .init(key: status.key, json: "{\"group\":\"\(group)\",\"node\":\"\(node)\",\"removed\":true}")
    }

    /// Closes all connections, and ends the thread.
    func stop() {
        // What fails now ends with the process.
        try? hub.loop.flatSubmit { [hub] in hub.stop() }.wait()
        try? group.syncShutdownGracefully()
    }
}
