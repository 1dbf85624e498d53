import MQTTCore
import NIOCore
import NetworkClient
import NetworkClientCore

/// The state of a client; confined to its event loop.
final class ClientCore {
    private let configuration: MQTTClient.Configuration
    private let loop: any EventLoop
    private var will: () -> MQTTWill? = { nil }
    private var handler: (MQTTClient.Event) -> Void = { _ in }
    private var session: MQTTSession
    private var plan: MQTTReconnectPlan
    private var versions: MQTTVersionChoice
    private var route = MQTTClient.Route.unavailable
    private var subscriptions: [MQTTSubscription] = []
    /// The connection, or the attempt to make one; its number tells late events of an earlier one apart.
    private var connection = Connection.none
    private var number = 0
    private var connectedAt: NIODeadline?
    private var retry: Scheduled<Void>?
    private var timer: (deadline: Duration, task: Scheduled<Void>)?
    private var isFlushDue = false
    /// The completions of PINGREQ packets that await PINGRESP, with their numbers on this connection.
    private var pingCompletions: [(ping: UInt64, body: () -> Void)] = []
    private var stopping: EventLoopPromise<Void>?

    private enum Connection {
        case none
        case attempt(cancel: @Sendable () -> Void)
        case open(any Channel)
    }

    /// The duration of a connection after which the plan begins again.
    private static let lasting = TimeAmount.seconds(30)
    /// The delay before each further connection of a client that is stopped.
    private static let delayWhileStopping = Duration.milliseconds(100)

    init(_ configuration: MQTTClient.Configuration, on loop: any EventLoop) {
        (self.configuration, self.loop) = (configuration, loop)
        (session, plan) = (.init(configuration.session), configuration.plan)
        versions = .init(only: configuration.version)
    }

    private var now: Duration { .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

    // MARK: Requests

    func start(will: @escaping () -> MQTTWill?, handler: @escaping (MQTTClient.Event) -> Void) {
        (self.will, self.handler) = (will, handler)
    }

    func use(_ route: MQTTClient.Route) {
        guard route != self.route, stopping == nil else { return }
        self.route = route
        plan.pathChanged()
        if case .none = connection {
            connect()
        } else {
            fail(.init(.pathChanged, "the path to the broker changed"))
        }
    }

    func publish(_ message: MQTTPublish, _ token: UInt64) {
        session.publish(message, token: token)
        scheduleFlush()
    }

    func publishFirst(_ messages: [(publish: MQTTPublish, token: UInt64)]) {
        session.publishFirst(messages)
        scheduleFlush()
    }

    func publishAgain(_ message: MQTTPublish, _ token: UInt64) {
        session.publishAgain(message, token: token)
        scheduleFlush()
    }

    func subscribe(_ subscriptions: [MQTTSubscription]) {
        self.subscriptions += subscriptions
        if session.isConnected { _ = session.subscribe(subscriptions) }
        scheduleFlush()
    }

    func acknowledge(received count: UInt64) {
        session.acknowledge(received: count)
        scheduleFlush()
    }

    func ping(_ completion: @escaping () -> Void) {
        guard let number = session.ping(at: now) else { return }
        pingCompletions.append((number, completion))
        scheduleFlush()
    }

    func stop(within limit: Duration, _ promise: EventLoopPromise<Void>) {
        guard stopping == nil else { return promise.succeed() }
        stopping = promise
        let isAttemptDue = isWaiting && session.unacknowledged > 0
        retry?.cancel()
        retry = nil
        if isAttemptDue { connect() }
        loop.assumeIsolated().scheduleTask(in: .init(limit)) { [self] in end() }
        if !endIfDone() { scheduleFlush() }
    }

    /// Ends if nothing is left to send, or can be sent.
    private func endIfDone() -> Bool {
        guard stopping != nil, isDone else { return false }
        end()
        return true
    }

    private var isDone: Bool {
        switch connection {
        case .none: !isWaiting || session.unacknowledged == 0
        case .attempt: session.unacknowledged == 0
        // Without DISCONNECT, the broker publishes the will of a connection that it accepts.
        case .open: session.isConnected && session.unacknowledged == 0
        }
    }

    private func end() {
        guard let promise = stopping, number >= 0 else { return }
        session.disconnect(session.hasUnsent ? .disconnectWithWill : .success)
        write()
        number = -1
        guard case .open(let channel) = connection else {
            if case .attempt(let cancel) = connection { cancel() }
            return promise.succeed()
        }
        channel.close().whenComplete { _ in promise.succeed() }
    }

    // MARK: Connecting

    private func connect() {
        retry?.cancel()
        retry = nil
        guard number >= 0, case .none = connection, case .through(let binding, _) = route else { return }
        number += 1
        let current = NIOLoopBound((self, number), eventLoop: loop)
        let target = StreamConnector.Target(host: configuration.host, port: configuration.port, binding: binding)
        let version = versions.version
        let size = Int(configuration.session.maximumPacketSize)
        let attempt = configuration.connector.connect(to: target, timeout: configuration.connectTimeout, on: loop) {
            let handler = PacketHandler(.init(version: version, maximumPacketSize: size)) { result in
                let (core, number) = current.value
                if core.number == number { core.take(result) }
            }
            try $0.pipeline.syncOperations.addHandler(handler)
        }
        connection = .attempt(cancel: attempt.cancel)
        attempt.established.whenComplete { result in
            let (core, number) = current.value
            if core.number == number { core.opened(result, version) } else { try? result.get().close(promise: nil) }
        }
    }

    private func opened(_ result: Result<any Channel, any Error>, _ version: MQTTVersion) {
        switch result {
        case .success(let channel):
            connection = .open(channel)
            session.connect(version, will: will(), at: now)
            flush()
        case .failure(let error):
            let failure = error as? HTTPError
            fail(.init(.unreachable, failure?.reason ?? "\(error)"), isOfPath: failure?.code.isOfPath == true)
        }
    }

    // MARK: Receiving

    /// Takes packets, or the end of the connection.
    private func take(_ result: Result<[MQTTPacket], MQTTFailure>) {
        guard case .success(let packets) = result else {
            if case .failure(let failure) = result { lost(failure) }
            return
        }
        do throws(MQTTFault) {
            for packet in packets { try session.receive(packet, at: now) }
            flush()
        } catch {
            reject(error)
        }
    }

    /// Ends a connection over which a broker broke a rule (4.13).
    private func reject(_ fault: MQTTFault) {
        report()
        session.disconnect(fault.reason)
        write()
        fail(.init(.unreachable, fault.description))
    }

    private func lost(_ failure: MQTTFailure) {
        guard !session.isConnected else { return fail(.init(.closed, failure.description)) }
        if case .open = connection { versions.closed() }
        fail(failure)
    }

    /// Whether there is no connection, and the next one is planned.
    private var isWaiting: Bool { if case .none = connection { retry != nil } else { false } }

    /// Gives a connection up, and plans the next one; does nothing if that is planned already.
    ///
    /// A client that is stopped connects again if messages wait, until its time is up.
    ///
    /// - Parameters:
    ///   - failure: The reason.
    ///   - isOfPath: Whether nothing was reached, which a path that has just changed may cause.
    func fail(_ failure: MQTTFailure, isOfPath: Bool = false) {
        guard number >= 0, !isWaiting else { return }
        guard stopping == nil || mayDeliver(after: failure) else { return end() }
        abandon()
        if let connectedAt, NIODeadline.now() - connectedAt >= Self.lasting { plan.reset() }
        connectedAt = nil
        let delay = delay(after: failure, isOfPath: isOfPath)
        handler(.disconnected(failure, retry: delay))
        guard let delay else { return }
        if delay == .zero { return connect() }
        retry?.cancel()
        retry = loop.assumeIsolated().scheduleTask(in: .init(delay)) { [self] in connect() }
    }

    /// Whether another connection may take the messages that wait.
    private func mayDeliver(after failure: MQTTFailure) -> Bool {
        session.unacknowledged > 0 && route != .unavailable && !failure.isRefusal
    }

    private func delay(after failure: MQTTFailure, isOfPath: Bool) -> Duration? {
        guard route != .unavailable else { return nil }
        if failure.kind == .pathChanged { return .zero }
        if stopping != nil { return Self.delayWhileStopping }
        return plan.delay(.random(in: 0..<1), isRefused: failure.isRefusal, isOfPath: isOfPath)
    }

    private func abandon() {
        number += 1
        switch connection {
        case .none: break
        case .attempt(let cancel): cancel()
        case .open(let channel): channel.close(promise: nil)
        }
        connection = .none
        pingCompletions = []
        session.closed()
    }

    // MARK: Sending

    /// Sends once for all that is queued in this turn of the event loop.
    private func scheduleFlush() {
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.assumeIsolated().execute { [self] in
            isFlushDue = false
            flush()
        }
    }

    private func flush() {
        // First, so that what the events cause is sent with what waits.
        report()
        write()
        report()
        if !endIfDone() { setTimer() }
    }

    private func write() {
        let packets = session.takeOutput(at: now)
        guard !packets.isEmpty, case .open(let channel) = connection else { return }
        var buffer = channel.allocator.buffer(capacity: 1024)
        for packet in packets {
            // Packets that can't be encoded were refused before.
            if let bytes = try? packet.encoded(as: session.version) { buffer.writeBytes(bytes) }
        }
        channel.writeAndFlush(buffer, promise: nil)
    }

    private func report() {
        for event in session.takeEvents() {
            switch event {
            case .connected(let hasSession): connected(hasSession)
            case .refused(let reason, let text): refused(reason, text)
            case .acknowledged(let token, let reason): handler(.acknowledged(token, reason))
            case .message(let message): handler(.message(message))
            case .subscribed(_, let reasons): handler(.subscribed(reasons))
            case .responded(let ping): responded(to: ping)
            case .disconnected(let reason, let text):
                fail(.init(.refused(reason), Self.words("the broker ended the connection", reason, text)))
            }
        }
    }

    private func responded(to ping: UInt64) {
        let due = pingCompletions.prefix { $0.ping <= ping }
        pingCompletions.removeFirst(due.count)
        for completion in due { completion.body() }
    }

    private func connected(_ hasSession: Bool) {
        versions.accepted()
        connectedAt = .now()
        let subscribes = !hasSession || configuration.renewsSubscriptions
        if !subscriptions.isEmpty, subscribes { _ = session.subscribe(subscriptions) }
        handler(.connected(session.version, hasSession: hasSession))
    }

    private func refused(_ reason: MQTTReasonCode, _ text: String?) {
        if reason == .unsupportedProtocolVersion, versions.refused() {
            abandon()
            return connect()
        }
        fail(.init(.refused(reason), Self.words("the broker refused the connection", reason, text)))
    }

    private static func words(_ what: String, _ reason: MQTTReasonCode, _ text: String?) -> String {
        "\(what): \(reason)" + (text.map { ", '\($0)'" } ?? "")
    }

    private func setTimer() {
        guard let deadline = session.deadline else { return }
        if let timer, timer.deadline <= deadline, timer.deadline > now { return }
        timer?.task.cancel()
        let task = loop.assumeIsolated().scheduleTask(in: .init(max(deadline - now, .zero))) { [self] in timePassed() }
        timer = (deadline, task)
    }

    private func timePassed() {
        timer = nil
        do throws(MQTTFault) {
            try session.advance(to: now)
            flush()
        } catch {
            reject(error)
        }
    }
}

extension HTTPError.Code {
    /// Whether a connection reached nothing: no address or route yet, a silent neighbour, or no name server.
    fileprivate var isOfPath: Bool {
        switch self {
        case .addressNotAvailable, .networkUnreachable, .hostUnreachable, .connectTimedOut,
            .nameTemporarilyUnresolvable, .resolveTimedOut:
            true
        default: false
        }
    }
}

extension TimeAmount {
    /// Converts a duration; those of a client are far from the limits.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
