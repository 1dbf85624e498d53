import CommandLineSupport
import FleetCore
import LinuxSystem
import Locking
import MQTTClient
import MQTTCore
import NIOCore
import NIOPosix
import NetwatchCore
import ReachabilityCore

/// Sends the events of the event service to a broker.
///
/// The journal of the service is the only store: events are read as far as the window allows, and after a restart again from
/// the position on.
final class Forwarder: Sendable {
    /// The parameters of a forwarder.
    struct Parameters: Sendable {
        var node: FleetNode
        var client: MQTTClient.Configuration
        /// The socket of the event service.
        var socket: String
        var homeAssistant: HomeAssistantDiscovery?
        var path: PathChoice
    }

    private struct State {
        var window: ForwardWindow
        /// The last event that was read, after which the next connection to the service continues.
        var lastRead: String?
        /// The newest event, and the one that was published as the state.
        var newest: FleetEvent?
        var published: FleetEvent?
        /// The number of states that are not acknowledged yet.
        var pendingStates = 0
        /// Whether the state is due once more after those, because one that is sent again follows it.
        var isRenewalDue = false
        /// Whether there has been a connection: before it, nothing is queued, so that the link is published first.
        var hasConnected = false
        var hasRoute = false
        var isStopped = false
        var summary = "connecting"
        /// The last error that was printed of each source.
        var reported: [Source: String] = [:]

        /// Returns the event to publish as the state on a new connection; nil if there is none.
        mutating func firstState() -> FleetEvent? {
            guard let newest else { return nil }
            // One that was not acknowledged is sent again after it, and must not be the last one.
            isRenewalDue = pendingStates > 0
            (pendingStates, published) = (pendingStates + 1, newest)
            return newest
        }

        /// Returns the event to publish as the state now; nil if none is due, or one is not acknowledged yet.
        mutating func nextState(isRenewal: Bool) -> FleetEvent? {
            guard hasConnected, !isStopped, let newest else { return nil }
            isRenewalDue = isRenewalDue || isRenewal
            guard pendingStates == 0, isRenewalDue || newest != published else { return nil }
            (pendingStates, isRenewalDue, published) = (1, false, newest)
            return newest
        }

        /// Adds an event to the window; nil if there is no room.
        mutating func add(_ event: FleetEvent) -> UInt64? {
            guard hasConnected, window.hasRoom, !isStopped else { return nil }
            if let id = event.id {
                (lastRead, reported[.service]) = (id, nil)
            }
            return window.add(event)
        }
    }

    private enum Source { case service, broker }

    /// The tokens of messages that are not events.
    private enum Token {
        static let link: UInt64 = 1
        static let state: UInt64 = 2
        static let firstEvent: UInt64 = 16
    }

    private let parameters: Parameters
    private let client: MQTTClient
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let state: Lock<State>
    private let room: Wakeup
    private let save: @Sendable (String) -> Void
    private let changed: @Sendable () -> Void
    private let streams = Lock<[ServiceStream]>([])
    private let session = String(UInt64.random(in: .min ... .max), radix: 16)
    /// The identifier of the running system; nil where procfs is missing.
    private let boot = (try? FileContents.read("/proc/sys/kernel/random/boot_id", atMost: 64)).map { bytes in
        String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The seconds that the broker waits with the will, so that a path that changes does not look like an outage.
    private static let willDelay: UInt32 = 15
    /// The maximum time that a forwarder that is stopped waits for acknowledgements.
    private static let stopTimeout = Duration.seconds(2)

    /// Creates a forwarder that is not started.
    ///
    /// - Parameters:
    ///   - parameters: The parameters.
    ///   - position: The last event that was acknowledged; nil to begin with the current state.
    ///   - save: Saves the first position.
    ///   - changed: Called when ``position`` or ``summary`` has changed, on any thread.
    /// - Throws: The errno of eventfd(2).
    init(
        _ parameters: Parameters,
        after position: String?,
        save: @escaping @Sendable (String) -> Void,
        changed: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        (self.parameters, self.save, self.changed) = (parameters, save, changed)
        let window = ForwardWindow(position: position, firstToken: Token.firstEvent)
        state = .init(.init(window: window, lastRead: position))
        room = try Wakeup()
        client = MQTTClient(parameters.client, on: group.next())
    }

    /// The last event that is acknowledged with all before it.
    var position: String? { state.withLock { $0.window.position } }

    /// The state of the connection in one line.
    var summary: String { state.withLock { $0.summary } }

    /// Starts the client, and the threads that follow the event service.
    func start() throws(SystemError) {
        client.start(will: { [weak self] in self?.will }, handler: { [weak self] in self?.take($0) })
        let all = [
            try stream(parameters.path.target) { $0.takePath($1.data) },
            try stream("/v1/events?mode=latest") { $0.takeState($1) }, try stream("/v1/events") { $0.takeEvent($1) },
        ]
        streams.withLock { $0 = all }
        for stream in all { try stream.start() }
    }

    private func stream(
        _ target: String,
        _ receive: @escaping @Sendable (Forwarder, ServiceStream.Event) -> Void
    ) throws(SystemError) -> ServiceStream {
        let isAll = target == "/v1/events"
        return try ServiceStream(
            parameters.socket,
            target,
            lastID: { [weak self] in isAll ? self?.state.withLock { $0.lastRead } : nil },
            receive: { [weak self] event in if let self { receive(self, event) } },
            fail: { [weak self] in self?.serviceFailed($0) }
        )
    }

    /// Publishes that the machine was stopped, and ends everything.
    func stop() {
        state.withLock { $0.isStopped = true }
        room.signal()
        for stream in streams.withLock({ $0 }) { stream.stop() }
        client.publish(FleetMessage.link(link(offline: .stopped), of: parameters.node), token: Token.link)
        let promise = BlockingPromise<Bool>()
        Task { [client, group] in
            await client.stop(within: Self.stopTimeout)
            try? await group.shutdownGracefully()
            promise.fulfill(true)
        }
        _ = promise.wait()
    }

    /// Publishes the retained messages again, before they expire.
    func renew() {
        guard state.withLock({ $0.hasConnected }) else { return }
        client.publish(FleetMessage.link(link(), of: parameters.node), token: Token.link)
        publishDiscovery()
        publishState(isRenewal: true)
    }
}

// MARK: The event service

extension Forwarder {
    /// Uses the path to the broker, which has changed or is known for the first time.
    private func takePath(_ object: [UInt8]) {
        guard let route = parameters.path.route(object) else { return }
        state.withLock { $0.hasRoute = true }
        client.use(route)
    }

    /// Without the service nothing is known of paths: the client connects as the kernel chooses.
    private func serviceFailed(_ failure: String) {
        note("\(failure); see whether 'netwatch serve' runs", of: .service)
        if !state.withLock({ $0.hasRoute }) { client.use(parameters.path.unknownRoute) }
    }

    private func takeState(_ event: ServiceStream.Event) {
        guard let event = FleetEvent(id: event.id, object: event.data) else { return }
        state.withLock { $0.newest = event }
        publishState(isRenewal: false)
    }

    /// Publishes the newest event, unless one is not acknowledged yet, after which it is its turn.
    private func publishState(isRenewal: Bool) {
        guard let event = state.withLock({ $0.nextState(isRenewal: isRenewal) }) else { return }
        client.publish(FleetMessage.state(event, of: parameters.node), token: Token.state)
    }

    /// Saves the position before the first event of all: after a crash at any later moment, no event is missing.
    private func begin(before id: String) {
        guard position == nil, let first = ForwardWindow.position(before: id) else { return }
        save(first)
        state.withLock { $0.window.begin(at: first) }
    }

    /// Adds an event to the window; waits for room.
    private func takeEvent(_ received: ServiceStream.Event) {
        guard let event = FleetEvent(id: received.id, object: received.data) else { return }
        if let id = event.id { begin(before: id) }
        while true {
            room.clear()
            let (token, isStopped) = state.withLock { state in (state.add(event), state.isStopped) }
            if isStopped { return }
            if let token { return client.publish(FleetMessage.event(event, of: parameters.node), token: token) }
            room.wait(until: .init(nanoseconds: .max))
        }
    }
}

// MARK: The broker

extension Forwarder {
    private var will: MQTTWill { FleetMessage.will(link(), of: parameters.node, delay: Self.willDelay) }

    private func link(offline: FleetLink.Reason? = nil) -> FleetLink {
        var text = TimestampText.utc
        return FleetLink(
            offline: offline,
            session: session,
            boot: boot,
            keepAlive: parameters.client.session.keepAlive,
            version: CommandLineProgram.version,
            time: text.text(.init(nanosecondsSinceEpoch: SystemClock.nanosecondsSince1970))
        )
    }

    private func take(_ event: MQTTClient.Event) {
        switch event {
        case .connected(let version, _): connected(version)
        case .acknowledged(Token.state, let reason): stateAcknowledged(reason)
        case .acknowledged(let token, let reason) where token >= Token.firstEvent: acknowledged(token, reason)
        case .acknowledged(_, let reason): if reason.isFailure { noteRefusal(of: "a message", reason) }
        case .disconnected(let failure, let retry): disconnected(failure, retry)
        case .message, .subscribed: break
        }
    }

    private func connected(_ version: MQTTVersion) {
        let (refused, isStopped) = state.withLock { state in
            (state.hasConnected, state.reported[.broker]) = (true, nil)
            return (state.window.takeRefused(), state.isStopped)
        }
        // What says that the machine was stopped waits already, and has to be the last word.
        guard !isStopped else { return }
        summarize("connected (\(version))")
        publishFirst()
        publishDiscovery()
        for (token, event) in refused {
            client.publishAgain(FleetMessage.event(event, of: parameters.node), token: token)
        }
        room.signal()
    }

    /// Publishes that the machine is connected and its state, before all that waits or is sent again: those who read it know
    /// then which events happened while it was not connected.
    private func publishFirst() {
        var messages = [(publish: FleetMessage.link(link(), of: parameters.node), token: Token.link)]
        if let event = state.withLock({ $0.firstState() }) {
            messages.append((FleetMessage.state(event, of: parameters.node), Token.state))
        }
        client.publishFirst(messages)
    }

    /// Publishes what Home Assistant needs to know.
    private func publishDiscovery() {
        let version = CommandLineProgram.version
        for message in parameters.homeAssistant?.messages(of: parameters.node, version: version) ?? [] {
            client.publish(message, token: Token.link)
        }
    }

    private func stateAcknowledged(_ reason: MQTTReasonCode) {
        if reason.isFailure { noteRefusal(of: "the state", reason) }
        state.withLock { $0.pendingStates -= 1 }
        publishState(isRenewal: false)
    }

    /// Moves the position, or sends a refused event again with the next connection.
    private func acknowledged(_ token: UInt64, _ reason: MQTTReasonCode) {
        guard !reason.isFailure || reason == .packetTooLarge else {
            let isStopped = state.withLock { state in
                state.window.refuse(token)
                return state.isStopped
            }
            // The next start sends it again, and this connection has to say that the machine was stopped.
            guard !isStopped else { return }
            let what = "the broker refuses events: \(reason); see its access rules for '\(parameters.node.eventsTopic)'"
            return client.reconnect(because: .init(.refused(reason), what))
        }
        if reason.isFailure { noteRefusal(of: "an event", reason) }
        let hasMoved = state.withLock { $0.window.acknowledge(token) }
        room.signal()
        if hasMoved { changed() }
    }

    private func noteRefusal(of what: String, _ reason: MQTTReasonCode) {
        note("the broker does not take \(what): \(reason); see its limits and access rules", of: .broker)
    }

    private func disconnected(_ failure: MQTTFailure, _ retry: Duration?) {
        if failure.kind == .pathChanged {
            return summarize(retry == nil ? "waiting for a path that is not cellular" : "connecting over another path")
        }
        let words = failure.description + hint(failure.kind)
        note(words, of: .broker)
        let seconds = retry.map { " in \($0.components.seconds) s" } ?? " when the path returns"
        summarize("not connected, next attempt\(seconds): \(words)")
    }

    /// Returns what may be the cause of a failure; clones of a machine push each other from the broker.
    private func hint(_ kind: MQTTFailure.Kind) -> String {
        switch kind {
        case .refused(.sessionTakenOver):
            "; another machine has the name '\(parameters.node.name)', as clones have: give each its own --node"
        case .closed: "; if it was not restarted, see whether another machine has the name '\(parameters.node.name)'"
        default: ""
        }
    }

    private func summarize(_ text: String) {
        state.withLock { $0.summary = text.escapedForTerminal }
        changed()
    }

    /// Prints an error, unless it was the last one of its source.
    private func note(_ text: String, of source: Source) {
        let isNew = state.withLock { state in
            defer { state.reported[source] = text }
            return state.reported[source] != text && !state.isStopped
        }
        if isNew { StandardError.note(text) }
    }
}
