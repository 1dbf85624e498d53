import FleetCore
import LinuxSystem
import Locking
import MQTTClient
import MQTTCore
import NIOPosix

/// Follows a fleet's topics at a broker, and collects the messages for the main thread.
final class FleetFeed: Sendable {
    /// The state of the connection.
    enum Connection: Hashable, Sendable {
        case connecting
        /// The broker accepted the subscription.
        case following(MQTTVersion)
        /// The broker does not let this user in, or read the topics.
        case refused(String)
        /// There is no connection, for this reason; the next attempt is made after the delay.
        case lost(String, retry: Duration?)
    }

    /// The messages that were received since the last time.
    struct Batch: Sendable {
        var messages: [MQTTPublish] = []
        /// The number of messages at QoS 1 that were ever received, those of the batch included.
        var received: UInt64 = 0
        var connection = Connection.connecting
        /// The last problem of the connection since the last batch, which may be over already.
        var problem: String?
        /// The number of connections on which the broker has accepted the subscription.
        var subscriptions = 0
        /// The last of the numbers of ``FleetFeed/ping(_:)`` to which the broker has responded.
        var respondedPing = 0
        fileprivate var version = MQTTVersion.v5
        fileprivate var isNew = false
    }

    private let client: MQTTClient
    private let group: MultiThreadedEventLoopGroup
    private let batch = Lock(Batch())
    private let wakeup: Wakeup

    /// The maximum time that the end waits for the broker.
    private static let stopTimeout = Duration.seconds(1)

    /// Creates a feed that is not started.
    ///
    /// - Parameters:
    ///   - configuration: The parameters of the client.
    ///   - group: The thread that it runs on.
    ///   - wakeup: Signalled when something was received, or the connection changed.
    init(_ configuration: MQTTClient.Configuration, on group: MultiThreadedEventLoopGroup, _ wakeup: Wakeup) {
        client = MQTTClient(configuration, on: group.next())
        (self.group, self.wakeup) = (group, wakeup)
    }

    /// Connects and subscribes.
    ///
    /// The messages of `link` and `state` come at QoS 0: at QoS 1, mosquitto drops all but about 1,000 retained ones.
    func start(_ filters: [MQTTSubscription]) {
        client.start(handler: { [weak self] in self?.take($0) })
        client.subscribe(filters)
    }

    /// Sends PINGREQ.
    ///
    /// The broker's PINGRESP follows all that it sent before; none comes if the connection is lost.
    func ping(_ number: Int) {
        client.ping { [weak self] in
            self?.batch.withLock { ($0.respondedPing, $0.isNew) = (number, true) }
            self?.wakeup.signal()
        }
    }

    /// Connects through a route, or through another one than before.
    func use(_ route: MQTTClient.Route) { client.use(route) }

    /// Returns what was received since the last time.
    func take() -> Batch {
        batch.withLock { batch in
            defer { (batch.messages, batch.problem, batch.isNew) = ([], nil, false) }
            return batch
        }
    }

    /// Whether there is something to take, and whether so much that it is not to wait.
    var waiting: (any: Bool, many: Bool) { batch.withLock { ($0.isNew, $0.messages.count >= Self.manyMessages) } }

    /// As many messages as some brokers send at QoS 1 before they wait for an acknowledgement.
    private static let manyMessages = 16

    /// Acknowledges as many of the messages at QoS 1 as were stored since the start.
    func acknowledge(received count: UInt64) { client.acknowledge(received: count) }

    /// Ends the connection.
    func stop() {
        let promise = BlockingPromise<Bool>()
        Task { [client] in
            await client.stop(within: Self.stopTimeout)
            promise.fulfill(true)
        }
        _ = promise.wait()
    }

    private func take(_ event: MQTTClient.Event) {
        switch event {
        case .message(let message): add(message)
        case .subscribed(let reasons): subscribed(reasons)
        case .connected(let version, _):
            batch.withLock { $0.version = version }
            set(.connecting)
        case .disconnected(let failure, let retry):
            guard failure.kind != .pathChanged else { return set(.connecting) }
            if failure.isRefusal { return set(.refused(failure.description)) }
            set(.lost(failure.description, retry: retry))
        case .acknowledged: break
        }
    }

    private func add(_ message: MQTTPublish) {
        let isDue = batch.withLock { batch in
            defer { batch.isNew = true }
            batch.messages.append(message)
            if message.qos == .atLeastOnce { batch.received += 1 }
            return !batch.isNew || batch.messages.count == Self.manyMessages
        }
        // What follows is taken with it.
        if isDue { wakeup.signal() }
    }

    private func subscribed(_ reasons: [MQTTReasonCode]) {
        if let refusal = reasons.first(where: \.isFailure) {
            return set(.refused("the broker does not let this user read the topics: \(refusal); see its access rules"))
        }
        batch.withLock { batch in
            batch.subscriptions += 1
            batch.connection = .following(batch.version)
            batch.isNew = true
        }
        wakeup.signal()
    }

    private func set(_ connection: Connection) {
        batch.withLock { batch in
            (batch.connection, batch.isNew) = (connection, true)
            batch.problem = connection.problem ?? batch.problem
        }
        wakeup.signal()
    }
}

extension FleetFeed.Connection {
    /// Why nothing is received; nil while the connection is made or stands.
    var problem: String? {
        switch self {
        case .connecting, .following: nil
        case .refused(let reason): reason
        case .lost(let reason, _): reason
        }
    }

    /// The text on the screen while nothing is received.
    var notice: String? {
        switch self {
        case .following: nil
        case .connecting: "connecting"
        case .refused(let reason): reason
        case .lost(let reason, let retry):
            retry.map { "\(reason); next attempt within \($0.components.seconds + 1) s" } ?? reason
        }
    }
}
