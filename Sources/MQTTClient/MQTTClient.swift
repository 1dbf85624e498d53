package import MQTTCore
package import NIOCore
package import NetworkClient

/// A client of an MQTT broker, which connects again after each loss.
///
/// While the path stands, it waits as ``MQTTReconnectPlan`` says; a path that changes makes it connect immediately. Messages
/// stay in the session until they are acknowledged, over any number of connections.
///
/// **Isolation**: may be used on any thread; events are reported on the event loop.
package final class MQTTClient: Sendable {
    /// The parameters of a client.
    package struct Configuration: Sendable {
        /// The broker's name or address.
        package var host: String
        package var port: Int
        /// How connections are opened.
        package var connector: StreamConnector
        package var session: MQTTSession.Configuration
        /// The only version to use; by default MQTT 5, or MQTT 3.1.1 if the broker does not have it.
        package var version: MQTTVersion?
        /// When it connects again.
        package var plan = MQTTReconnectPlan()
        /// Whether each connection subscribes again, also one with the session: the broker then sends the retained messages.
        package var renewsSubscriptions = false
        /// The timeout of each stage of connecting.
        package var connectTimeout = Duration.seconds(10)

        package init(host: String, port: Int, connector: StreamConnector, session: MQTTSession.Configuration) {
            self.host = host
            self.port = port
            self.connector = connector
            self.session = session
        }
    }

    /// The route to the broker.
    package enum Route: Sendable, Hashable {
        /// There is none that may be used: the client does not connect.
        case unavailable
        /// Through the interface, or with the source address; the text changes with the path.
        case through(LocalBinding, path: String)
    }

    /// An event of the client.
    package enum Event: Sendable, Hashable {
        /// The broker accepted a connection.
        case connected(MQTTVersion, hasSession: Bool)
        /// A message was acknowledged, or was refused.
        case acknowledged(UInt64, MQTTReasonCode)
        /// A message was received.
        case message(MQTTPublish)
        /// The results of a subscription.
        case subscribed([MQTTReasonCode])
        /// A connection was lost or could not be made; the next one is made after the delay, or with the next path if it
        /// is nil.
        case disconnected(MQTTFailure, retry: Duration?)
    }

    private let loop: any EventLoop
    private let core: NIOLoopBoundBox<ClientCore>

    /// Creates a client, which does nothing until it is started.
    ///
    /// - Parameters:
    ///   - configuration: The parameters.
    ///   - loop: The event loop.
    package init(_ configuration: Configuration, on loop: any EventLoop) {
        self.loop = loop
        core = .makeBoxSendingValue(ClientCore(configuration, on: loop), eventLoop: loop)
    }

    /// Starts the client, which connects as soon as it has a route.
    ///
    /// - Parameters:
    ///   - will: Returns the will of the next connection.
    ///   - handler: Takes the events, on the event loop.
    package func start(
        will: @escaping @Sendable () -> MQTTWill? = { nil },
        handler: @escaping @Sendable (Event) -> Void
    ) {
        perform { $0.start(will: will, handler: handler) }
    }

    /// Sets the route, and connects through it; a connection over another one is given up.
    package func use(_ route: Route) { perform { $0.use(route) } }

    /// Queues a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - token: What ``Event/acknowledged(_:_:)`` names it by.
    package func publish(_ message: MQTTPublish, token: UInt64) {
        perform { $0.publish(message, token) }
    }

    /// Queues messages before all that wait: if the handler does so for a new connection, they are the first on it.
    ///
    /// - Parameter messages: The messages in order, with their tokens.
    package func publishFirst(_ messages: [(publish: MQTTPublish, token: UInt64)]) {
        perform { $0.publishFirst(messages) }
    }

    /// Queues a message again that the broker refused, before those with higher tokens that wait.
    package func publishAgain(_ message: MQTTPublish, token: UInt64) {
        perform { $0.publishAgain(message, token) }
    }

    /// Subscribes, on this connection and all that follow.
    package func subscribe(_ subscriptions: [MQTTSubscription]) { perform { $0.subscribe(subscriptions) } }

    /// Sends PINGREQ.
    ///
    /// The broker's PINGRESP follows all that it sent before.
    ///
    /// - Parameter completion: Called on the event loop; never if there is no connection, or it is lost.
    package func ping(_ completion: @escaping @Sendable () -> Void) { perform { $0.ping(completion) } }

    /// Acknowledges messages at QoS 1, if that is not done when they are received.
    ///
    /// - Parameter count: How many of all that the handler ever took are acknowledged, counted from the first.
    package func acknowledge(received count: UInt64) { perform { $0.acknowledge(received: count) } }

    /// Closes the connection, and connects again according to the plan.
    package func reconnect(because failure: MQTTFailure) { perform { $0.fail(failure) } }

    /// Ends the connection with DISCONNECT, after the messages that wait were acknowledged or the time is up.
    ///
    /// A client that is connecting, or waits to connect again, makes this connection first if messages wait, and further ones
    /// if it is lost or can't be made. The broker publishes the will if not all were sent in time.
    package func stop(within limit: Duration) async {
        let promise = loop.makePromise(of: Void.self)
        perform { $0.stop(within: limit, promise) }
        try? await promise.futureResult.get()
    }

    private func perform(_ body: @escaping @Sendable (ClientCore) -> Void) {
        if loop.inEventLoop { return body(core.value) }
        loop.execute { [core] in body(core.value) }
    }
}

/// Why a connection was lost or could not be made.
package struct MQTTFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, by who has to do something.
    package enum Kind: Hashable, Sendable {
        /// The broker can't be reached, or does not respond.
        case unreachable
        /// The broker closed a connection that it had accepted.
        case closed
        /// The broker refuses the client.
        case refused(MQTTReasonCode)
        /// The path changed.
        case pathChanged
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Whether only a person can change it.
    package var isRefusal: Bool { if case .refused(let reason) = kind { !reason.isTemporary } else { false } }
}
