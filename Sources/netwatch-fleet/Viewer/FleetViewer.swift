import CommandLineSupport
import FleetCore
import LinuxSystem
import MQTTClient
import MQTTCore
import NIOCore
import NIOPosix
import NetwatchCore
import NetworkClient
import ReachabilityCore

/// The state of a viewer of a fleet: it takes what the broker sent, stores it, and keeps the model and the board up to date.
///
/// Confined to the main thread, which waits for ``wakeup`` or ``deadline`` and then calls ``advance()``.
final class FleetViewer {
    /// The parameters of a viewer.
    struct Configuration {
        var client: MQTTClient.Configuration
        /// The broker and the topics, by which the store knows the session.
        var source: String
        let subscriptions: [MQTTSubscription]
        let decoder: ReportDecoder
        let filter: FleetFilter
        let grouping: FleetGrouping?
        let inventory: FleetInventory?
        /// The path of the store; nil for none.
        let store: String?

        init(
            client: MQTTClient.Configuration,
            source: String,
            machines: FleetOptions,
            store: String?
        ) throws(ToolError) {
            (self.client, self.source, self.store) = (client, source, store)
            subscriptions = machines.subscriptions
            decoder = ReportDecoder(prefix: machines.prefix)
            (filter, grouping) = (machines.filter, machines.grouping)
            inventory = try machines.readInventory()
        }
    }

    let configuration: Configuration
    /// Signalled when there is something to take.
    let wakeup: Wakeup
    private(set) var model = FleetModel()
    private(set) var board: FleetBoard
    /// The state of the connection.
    private(set) var connection = FleetFeed.Connection.connecting
    /// The last problem of the connection that was taken, which may be over already.
    private(set) var connectionProblem: String?
    /// The number of connections on which the broker has accepted the subscription.
    private(set) var subscriptions = 0
    /// When the last message was received that the broker had kept; nil if there was none.
    private(set) var lastRetained: Instant?
    /// The last number of ``ping()`` to which the broker has responded.
    private(set) var respondedPing = 0
    private var pings = 0
    /// The failure of the store; nil if it works.
    var storeFailure: String? { failures.current }
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let feed: FleetFeed
    private let store: FleetStore?
    private let failures = StoreFailure()
    private var nextTaking = Instant(nanoseconds: 0)
    private var nextTick = Instant(nanoseconds: 0)
    /// Messages that can't be decoded are reported once for each topic's kind of error, and counted.
    private(set) var unreadable: (count: Int, last: String?) = (0, nil)

    /// The interval at which messages are taken, unless many wait.
    static let interval = Duration.milliseconds(100)
    /// The interval at which time passes for the model.
    private static let tick = Duration.seconds(1)
    /// The time for which a broker keeps the session of a viewer with a store, in seconds.
    private static let sessionExpiry: UInt32 = 7 * 86_400
    /// The period of availability, with some time to spare.
    private static let memory = Duration.seconds(25 * 3_600)

    /// Creates a viewer that knows what its store has, and starts no connection yet.
    init(_ configuration: Configuration) throws(ToolError) {
        var configuration = configuration
        wakeup = try Wakeup.open()
        board = .init(filter: configuration.filter, grouping: configuration.grouping)
        store = try configuration.store.map { (path) throws(ToolError) in try FleetStore(at: path) }
        if let store {
            configuration.client.session.clientID = try store.clientID(of: configuration.source)
            configuration.client.session.keepsSession = true
            configuration.client.session.sessionExpiry = Self.sessionExpiry
        }
        self.configuration = configuration
        feed = FleetFeed(configuration.client, on: group, wakeup)
        if let inventory = configuration.inventory { model.expect(inventory) }
        try restore()
    }

    private func restore() throws(ToolError) {
        guard let store else { return }
        let now = SystemClock.wall
        let start = Timestamp(nanosecondsSinceEpoch: now.nanosecondsSinceEpoch - Self.memory.inNanoseconds)
        try store.read(from: start, limit: model.limits.changes) { entry in
            _ = model.apply(entry.report, entry.delivery)
        }
        model.advance(to: now)
    }

    /// Starts the store's thread and the connection.
    func start() throws(SystemError) {
        try store?.start(
            stored: { [feed] in feed.acknowledge(received: $0) },
            failed: { [failures, wakeup] failure in
                failures.set(failure)
                wakeup.signal()
            }
        )
        feed.start(configuration.subscriptions)
    }

    /// Sends PINGREQ.
    ///
    /// The broker's PINGRESP follows all that it sent before; none comes if the connection is lost.
    ///
    /// - Returns: The number that ``respondedPing`` then has.
    func ping() -> Int {
        pings += 1
        feed.ping(pings)
        return pings
    }

    /// Connects through a route, or through another one than before.
    func use(_ route: MQTTClient.Route) { feed.use(route) }

    /// A closure that uses a route, from any thread.
    var routeUser: @Sendable (MQTTClient.Route) -> Void { { [feed] in feed.use($0) } }

    /// Whether anything was received that is not taken yet.
    var hasWaiting: Bool { feed.waiting.any }

    /// When ``advance()`` has to be called at the latest.
    var deadline: Instant { feed.waiting.any ? min(nextTaking, nextTick) : nextTick }

    /// Takes what was received, unless it can wait, and lets time pass.
    ///
    /// - Returns: Whether anything may have changed that is shown.
    func advance() -> Bool {
        let now = SystemClock.now
        let waiting = feed.waiting
        let takes = waiting.any && (waiting.many || now >= nextTaking)
        let ticks = now >= nextTick
        guard takes || ticks else { return false }
        if takes {
            nextTaking = now.advanced(by: Self.interval)
            take(feed.take())
        }
        model.advance(to: SystemClock.wall)
        if ticks { nextTick = now.advanced(by: Self.tick) }
        return board.update(from: &model) || takes
    }

    /// Shows the machines that meet other conditions.
    func show(_ filter: FleetFilter) {
        board = .init(filter: filter, grouping: configuration.grouping)
        _ = board.update(from: &model)
    }

    /// Calls a closure with the model, which it may follow.
    func withModel<Result>(_ body: (inout FleetModel) -> Result) -> Result { body(&model) }

    /// Stores what was received, and ends everything.
    func stop() {
        _ = advanceAll()
        store?.close()
        feed.stop()
        try? group.syncShutdownGracefully()
    }

    private func advanceAll() -> Bool {
        nextTaking = .init(nanoseconds: 0)
        return advance()
    }

    private func take(_ batch: FleetFeed.Batch) {
        (connection, subscriptions, respondedPing) = (batch.connection, batch.subscriptions, batch.respondedPing)
        connectionProblem = batch.problem
        let time = SystemClock.wall
        var entries: [FleetStore.Entry] = []
        for message in batch.messages {
            guard let entry = entry(message, at: time) else { continue }
            let update = model.apply(entry.report, entry.delivery)
            if Self.isStored(entry.report.content, update) { entries.append(entry) }
        }
        // After their decoding, which takes a while for thousands.
        if batch.messages.contains(where: \.isRetained) { lastRetained = SystemClock.now }
        guard let store else { return feed.acknowledge(received: batch.received) }
        store.append(entries, received: batch.received)
    }

    /// Whether a message is stored: not a state, which the broker keeps, and of which the event follows.
    private static func isStored(_ content: NodeReport.Content, _ update: FleetUpdate) -> Bool {
        switch content {
        case .event: update == .new || update == .duplicate
        case .link: update == .new
        case .state, .gap, .removed: false
        }
    }

    private func entry(_ message: MQTTPublish, at time: Timestamp) -> FleetStore.Entry? {
        do throws(ReportError) {
            let report = try configuration.decoder.decode(topic: message.topic, payload: message.payload)
            let expiry = message.properties[number: .messageExpiryInterval]
            let delivery = Delivery(time: time, isRetained: message.isRetained, expiry: expiry)
            return .init(report: report, delivery: delivery)
        } catch {
            unreadable = (unreadable.count + 1, error.description)
            return nil
        }
    }
}

extension FleetViewer {
    /// The first problem that the user should know of; nil if there is none.
    var notice: String? { (connection.notice ?? storeFailure).map(\.escapedForTerminal) }

    /// Whether the link and the state of all machines of the inventory are known; false without an inventory.
    var isInventoryKnown: Bool {
        guard let entries = configuration.inventory?.entries, !entries.isEmpty else { return false }
        return entries.allSatisfy { entry in
            model.status(of: entry.key).map { $0.presence != .unknown && $0.newest != nil } ?? false
        }
    }
}
