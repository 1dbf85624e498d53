import Glibc
import HTTPLab
import MQTTClient
import MQTTCore
import NIOCore
import NIOPosix
import NetworkClient
import NetworkLab
import Testing

/// A client and the events that it reported.
final class ClientLab: Sendable {
    let client: MQTTClient
    let events = LabInbox<MQTTClient.Event>()

    init(
        _ port: Int,
        tls: TLSOptions? = nil,
        host: String = "127.0.0.1",
        will: MQTTWill? = nil,
        _ change: (inout MQTTClient.Configuration) -> Void = { _ in }
    ) throws {
        var session = MQTTSession.Configuration(clientID: "lab")
        session.sessionExpiry = 60
        var configuration = MQTTClient.Configuration(
            host: host,
            port: port,
            connector: try StreamConnector(tls: tls),
            session: session
        )
        configuration.plan = .init(.milliseconds(20)...(.milliseconds(100)))
        // Longer than a busy machine takes.
        configuration.connectTimeout = .seconds(300)
        change(&configuration)
        client = MQTTClient(configuration, on: MultiThreadedEventLoopGroup.singleton.next())
        client.start(will: { will }, handler: { [events] in events.put($0) })
        client.use(.through(.unbound, path: "first"))
    }

    func publish(_ tokens: ClosedRange<UInt64>, retained: Bool = false) {
        for token in tokens {
            let message = MQTTPublish(
                topic: "lab/a",
                payload: Array("n\(token).".utf8),
                qos: .atLeastOnce,
                isRetained: retained
            )
            client.publish(message, token: token)
        }
    }

    /// Waits until the events satisfy a condition, without occupying a thread that the client needs.
    @discardableResult
    func wait(
        for what: String,
        until condition: ([MQTTClient.Event]) -> Bool
    ) async throws -> [MQTTClient.Event] {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let all = events.all
            if condition(all) { return all }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw LabError("wait for \(what)", errno: ETIMEDOUT, detail: "seen: \(events.all)")
    }

    /// Waits until all messages up to a token are acknowledged.
    func waitForAcknowledgements(_ tokens: ClosedRange<UInt64>) async throws {
        try await wait(for: "acknowledgements") { events in
            let acknowledged = events.compactMap { event -> UInt64? in
                guard case .acknowledged(let token, let reason) = event, !reason.isFailure else { return nil }
                return token
            }
            return Set(acknowledged).isSuperset(of: tokens)
        }
    }

    /// Waits for a number of connections, and returns their versions.
    @discardableResult
    func waitForConnections(_ count: Int = 1) async throws -> [MQTTVersion] {
        Self.versions(try await wait(for: "\(count) connections") { Self.versions($0).count >= count })
    }

    private static func versions(_ events: [MQTTClient.Event]) -> [MQTTVersion] {
        events.compactMap { if case .connected(let version, _) = $0 { version } else { nil } }
    }

    /// Waits for the first failure of a connection.
    func waitForFailure() async throws -> MQTTFailure {
        let failures = { (events: [MQTTClient.Event]) in
            events.compactMap { if case .disconnected(let failure, _) = $0 { failure } else { nil } }
        }
        return try #require(failures(try await wait(for: "a failure") { !failures($0).isEmpty }).first)
    }

    func stop() async { await client.stop(within: .seconds(2)) }
}

/// A server of another protocol, which speaks first.
private final class Greeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        let text = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(text), promise: nil)
    }
}

/// A broker that accepts connections, and refuses messages: so many of them with one write.
private final class RefusingBroker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let count: Int
    private let connections: LabInbox<String>
    private var decoder = MQTTDecoder(version: .v5)
    private var refusals: [MQTTPacket] = []

    init(_ count: Int, _ connections: LabInbox<String>) { (self.count, self.connections) = (count, connections) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do {
            while let packet = try decoder.next() { try take(packet, context) }
        } catch {
            context.close(promise: nil)
        }
    }

    private func take(_ packet: MQTTPacket, _ context: ChannelHandlerContext) throws {
        switch packet {
        case .connect(let connect):
            connections.put(connect.clientID)
            try send([.connack(.init(hasSession: false, reason: .success))], context)
        case .publish(let message):
            refusals.append(.puback(.init(id: message.id, reason: .notAuthorized)))
            if refusals.count == count { try send(refusals, context) }
        default: break
        }
    }

    private func send(_ packets: [MQTTPacket], _ context: ChannelHandlerContext) throws {
        var bytes = ByteBuffer()
        for packet in packets { bytes.writeBytes(try packet.encoded(as: .v5)) }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }
}

/// A broker that accepts a connection only when it is told to, or closes the first one at once or upon its first message, and
/// records what it receives.
private final class HesitatingBroker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let received: LabInbox<String>
    private let acceptance: EventLoopFuture<Void>
    private let closesFirst: Bool
    private let losesFirst: Bool
    private let acknowledges: Bool
    private var decoder = MQTTDecoder(version: .v5)

    init(
        _ received: LabInbox<String>,
        _ acceptance: EventLoopFuture<Void>,
        closesFirst: Bool,
        losesFirst: Bool,
        acknowledges: Bool
    ) {
        (self.received, self.acceptance) = (received, acceptance)
        (self.closesFirst, self.losesFirst, self.acknowledges) = (closesFirst, losesFirst, acknowledges)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        while let packet = try? decoder.next() { take(packet, context) }
    }

    private func take(_ packet: MQTTPacket, _ context: ChannelHandlerContext) {
        switch packet {
        case .connect:
            received.put(packet.name)
            if closesFirst, received.all.count == 1 { return context.close(promise: nil) }
            acceptance.hop(to: context.eventLoop).assumeIsolated().whenSuccess { [self] in
                send(.connack(.init(hasSession: false, reason: .success)), context)
            }
        case .publish(let message):
            received.put("\(packet.name) \(String(decoding: message.payload, as: UTF8.self))")
            if losesFirst, received.all.count == 2 { return context.close(promise: nil) }
            if acknowledges { send(.puback(.init(id: message.id)), context) }
        case .disconnect(let notice): received.put("\(packet.name) \(notice.reason)")
        default: break
        }
    }

    private func send(_ packet: MQTTPacket, _ context: ChannelHandlerContext) {
        guard let bytes = try? packet.encoded(as: .v5) else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Starts it on a port of 127.0.0.1.
    static func start(
        _ received: LabInbox<String>,
        _ acceptance: EventLoopFuture<Void>,
        closesFirst: Bool = false,
        losesFirst: Bool = false,
        acknowledges: Bool = true
    ) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let broker = HesitatingBroker(
                    received,
                    acceptance,
                    closesFirst: closesFirst,
                    losesFirst: losesFirst,
                    acknowledges: acknowledges
                )
                try channel.pipeline.syncOperations.addHandler(broker)
            }
        }.bind(host: "127.0.0.1", port: 0).get()
    }
}

/// A client of a real broker.
@Suite(.blocksItsThread, .timeLimit(.minutes(10)))
struct MQTTClientTests {
    @Test("Messages at QoS 1 arrive in order and are acknowledged", arguments: [MQTTVersion.v5, .v311])
    func publish(version: MQTTVersion) async throws {
        let broker = try Mosquitto()
        let reader = try broker.reader("lab/#")
        let lab = try ClientLab(broker.port) { $0.version = version }
        #expect(try await lab.waitForConnections() == [version])
        lab.publish(1...200)
        try await lab.waitForAcknowledgements(1...200)
        let output = try reader.waitForOutput { $0.contains("lab/a n200.") }
        let lines = output.split(separator: "\n").filter { $0.hasPrefix("lab/a ") }
        #expect(lines.map(String.init) == (1...200).map { "lab/a n\($0)." })
        await lab.stop()
    }

    @Test("Messages are received by a subscription, which a new connection makes again")
    func subscribe() async throws {
        let broker = try Mosquitto()
        let (reader, writer) = (
            try ClientLab(broker.port), try ClientLab(broker.port) { $0.session.clientID = "writer" }
        )
        reader.client.subscribe([.init("lab/#", qos: .atLeastOnce)])
        try await reader.wait(for: "a subscription") { $0.contains(.subscribed([.init(rawValue: 1)])) }
        writer.publish(1...1)
        try await reader.wait(for: "a message") { $0.contains { if case .message = $0 { true } else { false } } }
        try broker.kill()
        let restarted = try Mosquitto(after: broker)
        try await reader.wait(for: "another subscription") { events in
            events.count { $0 == .subscribed([.init(rawValue: 1)]) } == 2
        }
        await reader.stop()
        await writer.stop()
        try restarted.stop()
    }

    @Test("A message that was not acknowledged is received again by the next client of the session")
    func lateAcknowledgement() async throws {
        let broker = try Mosquitto()
        let keep = { (configuration: inout MQTTClient.Configuration) in
            configuration.session.clientID = "reader"
            (configuration.session.keepsSession, configuration.session.acknowledgesReceipt) = (true, false)
            configuration.renewsSubscriptions = true
        }
        let received = { (events: [MQTTClient.Event]) -> [[UInt8]] in
            events.compactMap { if case .message(let message) = $0 { message.payload } else { nil } }
        }
        let first = try ClientLab(broker.port, keep)
        first.client.subscribe([.init("lab/#", qos: .atLeastOnce)])
        try await first.wait(for: "a subscription") { $0.contains(.subscribed([.init(rawValue: 1)])) }
        let writer = try ClientLab(broker.port) { $0.session.clientID = "writer" }
        writer.publish(1...3)
        try await first.wait(for: "messages") { received($0).count == 3 }
        first.client.acknowledge(received: 2)
        await first.stop()
        let second = try ClientLab(broker.port, keep)
        let events = try await second.wait(for: "a message") { !received($0).isEmpty }
        #expect(received(events) == [Array("n3.".utf8)])
        second.client.acknowledge(received: 1)
        await second.stop()
        await writer.stop()
        try broker.stop()
    }

    @Test("After a broker was killed, what was not acknowledged is sent again, in order")
    func killedBroker() async throws {
        let authority = try CertificateAuthority()
        let settings = ["allow_anonymous true", "certfile @/server.pem", "keyfile @/server.key"]
        let prepare = { (folder: LabFolder) in _ = try authority.issue().write(to: folder) }
        var broker = try Mosquitto(settings, prepare: prepare)
        let lab = try ClientLab(
            broker.port,
            tls: .init(roots: try .only(Array(authority.rootPEM.utf8))),
            host: "localhost"
        )
        try await lab.waitForConnections()
        for round in UInt64(1)...3 {
            lab.publish((round * 100)...(round * 100 + 49))
            try broker.kill()
            lab.publish((round * 100 + 50)...(round * 100 + 99))
            broker = try Mosquitto(after: broker, settings, prepare: prepare)
            try await lab.waitForAcknowledgements((round * 100)...(round * 100 + 99))
        }
        await lab.stop()
    }

    @Test("A broker whose certificate is not trusted, or does not have the pinned key, is refused")
    func trust() async throws {
        let authority = try CertificateAuthority()
        let broker = try Mosquitto(["allow_anonymous true", "certfile @/server.pem", "keyfile @/server.key"]) {
            folder in
            _ = try authority.issue().write(to: folder)
        }
        let stranger = try ClientLab(
            broker.port,
            tls: .init(roots: try .only(Array(try CertificateAuthority("Other").rootPEM.utf8))),
            host: "localhost"
        )
        #expect(try await stranger.waitForFailure().description.contains("trust"))
        var policy = SecurityPolicy.standard
        policy.mode = .publicKey
        policy.pins = [try Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")]
        let options = TLSOptions(policy: policy, roots: try .only(Array(authority.rootPEM.utf8)))
        let pinned = try ClientLab(broker.port, tls: options, host: "localhost")
        #expect(try await pinned.waitForFailure().description.contains("pin"))
        await stranger.stop()
        await pinned.stop()
    }

    @Test("A client certificate names the user")
    func clientCertificate() async throws {
        let authority = try CertificateAuthority()
        let settings = [
            "certfile @/server.pem", "keyfile @/server.key", "cafile @/root.pem", "require_certificate true",
            "use_identity_as_username true",
        ]
        let broker = try Mosquitto(settings) { folder in
            _ = try authority.issue().write(to: folder)
            _ = try folder.write("root.pem", authority.rootPEM + authority.intermediate.pem)
        }
        let client = try authority.issueClient("node")
        var options = TLSOptions(roots: try .only(Array(authority.rootPEM.utf8)))
        options.clientIdentity = try .init(
            certificates: Array(client.chainPEM.utf8),
            key: Array(client.own.keyPEM.utf8)
        )
        let lab = try ClientLab(broker.port, tls: options, host: "localhost")
        try await lab.waitForConnections()
        await lab.stop()
    }

    @Test("A refusal has the broker's reason", arguments: [MQTTVersion.v5, .v311])
    func refusal(version: MQTTVersion) async throws {
        let broker = try Mosquitto(["allow_anonymous false", "password_file @/users"]) { folder in
            let file = try folder.write("users", "")
            _ = try LabProcess.run("/usr/bin/mosquitto_passwd", ["-b", file, "node", "secret"])
        }
        let lab = try ClientLab(broker.port) { $0.version = version }
        #expect(try await lab.waitForFailure().kind == .refused(.notAuthorized))
        await lab.stop()
        let user = try ClientLab(broker.port) { configuration in
            configuration.version = version
            configuration.session.userName = "node"
            configuration.session.password = Array("secret".utf8)
        }
        try await user.waitForConnections()
        await user.stop()
    }

    @Test("The broker publishes the will of a client whose path is lost, and not that of one that stops")
    func will() async throws {
        let broker = try Mosquitto()
        let reader = try broker.reader("lab/#")
        let will = MQTTWill(topic: "lab/will", payload: Array("gone".utf8))
        let stopping = try ClientLab(broker.port, will: .init(topic: "lab/will", payload: Array("stopped".utf8))) {
            $0.session.clientID = "stopping"
        }
        try await stopping.waitForConnections()
        await stopping.stop()
        let lab = try ClientLab(broker.port, will: will)
        try await lab.waitForConnections()
        lab.client.use(.unavailable)
        let output = try reader.waitForOutput { $0.contains("lab/will gone") }
        #expect(!output.contains("stopped"))
        #expect(try await lab.waitForFailure().kind == .pathChanged)
        await lab.stop()
    }

    @Test("A path that changes is used immediately, whatever the plan says")
    func pathChange() async throws {
        let broker = try Mosquitto()
        let lab = try ClientLab(broker.port) { $0.plan = .init(.seconds(1_000)...(.seconds(1_000))) }
        try await lab.waitForConnections()
        lab.client.use(.through(.address("127.0.0.2"), path: "second"))
        try await lab.waitForConnections(2)
        lab.client.use(.unavailable)
        lab.publish(1...1)
        lab.client.use(.through(.unbound, path: "third"))
        try await lab.waitForAcknowledgements(1...1)
        await lab.stop()
    }

    @Test("A path that has changed and has no address yet is tried again soon, whatever the plan says")
    func newPath() async throws {
        let broker = try Mosquitto()
        let lab = try ClientLab(broker.port) { $0.plan = .init(.seconds(1_000)...(.seconds(1_000))) }
        try await lab.waitForConnections()
        // TEST-NET-1 (RFC 5737): an address of no machine, from which nothing is sent.
        lab.client.use(.through(.address("192.0.2.2"), path: "second"))
        let events = try await lab.wait(for: "two failures") { Self.delays($0).count >= 2 }
        let delays = Self.delays(events)
        #expect(delays[0] <= .seconds(1) && delays[1] <= .seconds(2))
        await lab.stop()
    }

    /// The delays before further connections; those that are made immediately have none.
    private static func delays(_ events: [MQTTClient.Event]) -> [Duration] {
        events.compactMap { event in
            guard case .disconnected(_, let delay?) = event, delay > .zero else { return nil }
            return delay
        }
    }

    @Test("A client whose name another one takes loses a connection that was accepted")
    func takeover() async throws {
        let broker = try Mosquitto()
        let first = try ClientLab(broker.port) { $0.plan = .init(.seconds(1_000)...(.seconds(1_000))) }
        try await first.waitForConnections()
        let second = try ClientLab(broker.port)
        // mosquitto 2.0.11 closes the connection without the reason that the specification has for it.
        let kind = try await first.waitForFailure().kind
        #expect(kind == .closed || kind == .refused(.sessionTakenOver))
        await first.stop()
        await second.stop()
    }

    @Test("A broker that has only MQTT 3.1.1 is connected to with that")
    func fallback() async throws {
        let server = try NATS()
        let lab = try ClientLab(server.port)
        #expect(try await lab.waitForConnections() == [.v311])
        lab.publish(1...20)
        try await lab.waitForAcknowledgements(1...20)
        await lab.stop()
        try server.stop()
    }

    @Test("Messages that are refused together make the client connect again once")
    func refusals() async throws {
        let connections = LabInbox<String>()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RefusingBroker(20, connections))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let lab = try ClientLab(try #require(server.localAddress?.port))
        lab.client.start(
            will: { nil },
            handler: { [events = lab.events, weak client = lab.client] event in
                events.put(event)
                // As for a machine whose events the broker's access rules do not allow.
                guard case .acknowledged(_, let reason) = event, reason.isFailure else { return }
                client?.reconnect(because: .init(.refused(reason), "the broker refuses events"))
            }
        )
        lab.publish(1...20)
        let events = try await lab.wait(for: "a second connection") { events in
            events.count { if case .connected = $0 { true } else { false } } >= 2
        }
        let losses = events.count { if case .disconnected = $0 { true } else { false } }
        #expect(losses == 1)
        #expect(connections.all.count == 2)
        await lab.stop()
        try await server.close()
    }

    @Test("A client that is stopped while it connects sends what waits, and ends the connection in order")
    func stopWhileConnecting() async throws {
        let received = LabInbox<String>()
        let acceptance = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        let server = try await HesitatingBroker.start(received, acceptance.futureResult)
        let lab = try ClientLab(try #require(server.localAddress?.port))
        while received.all.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        lab.publish(1...1)
        let stopping = Task { await lab.client.stop(within: .seconds(120)) }
        // Long enough for the client to have been stopped, in all likelihood.
        try await Task.sleep(for: .milliseconds(100))
        acceptance.succeed()
        await stopping.value
        while received.all.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(received.all == ["CONNECT", "PUBLISH n1.", "DISCONNECT success (0x00)"])
        try await server.close()
    }

    @Test("A client that is stopped while it waits to connect again makes that connection, if messages wait")
    func stopWhileWaiting() async throws {
        let received = LabInbox<String>()
        let acceptance = MultiThreadedEventLoopGroup.singleton.next().makeSucceededVoidFuture()
        let server = try await HesitatingBroker.start(received, acceptance, closesFirst: true)
        let lab = try ClientLab(try #require(server.localAddress?.port)) {
            $0.plan = .init(.seconds(1_000)...(.seconds(1_000)))
        }
        #expect(try await lab.waitForFailure().kind == .unreachable)
        lab.publish(1...1)
        await lab.client.stop(within: .seconds(120))
        while received.all.count < 4 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(received.all == ["CONNECT", "CONNECT", "PUBLISH n1.", "DISCONNECT success (0x00)"])
        try await server.close()
    }

    @Test("A client whose connection is lost while it is stopped connects again, and sends there what waits")
    func stopWithLostConnection() async throws {
        let received = LabInbox<String>()
        let acceptance = MultiThreadedEventLoopGroup.singleton.next().makeSucceededVoidFuture()
        let server = try await HesitatingBroker.start(received, acceptance, losesFirst: true)
        let lab = try ClientLab(try #require(server.localAddress?.port)) {
            $0.plan = .init(.seconds(1_000)...(.seconds(1_000)))
        }
        try await lab.waitForConnections()
        lab.publish(1...1)
        await lab.client.stop(within: .seconds(120))
        while received.all.count < 5 { try await Task.sleep(for: .milliseconds(5)) }
        let expected = ["CONNECT", "PUBLISH n1.", "CONNECT", "PUBLISH n1.", "DISCONNECT success (0x00)"]
        #expect(received.all == expected)
        try await server.close()
    }

    @Test(
        "A client that is stopped before all messages are sent leaves the will to the broker",
        arguments: [(1, "disconnect with will message (0x04)"), (2, "success (0x00)")]
    )
    func stopWithUnsent(window: Int, reason: String) async throws {
        let received = LabInbox<String>()
        let acceptance = MultiThreadedEventLoopGroup.singleton.next().makeSucceededVoidFuture()
        let server = try await HesitatingBroker.start(received, acceptance, acknowledges: false)
        let lab = try ClientLab(try #require(server.localAddress?.port)) { $0.session.window = window }
        lab.publish(1...2)
        while received.all.count < 1 + window { try await Task.sleep(for: .milliseconds(5)) }
        await lab.client.stop(within: .milliseconds(100))
        while received.all.count < 2 + window { try await Task.sleep(for: .milliseconds(5)) }
        #expect(received.all.last == "DISCONNECT \(reason)")
        try await server.close()
    }

    @Test("A server that is no broker is reported as such")
    func stranger() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Greeter()) }
        }.bind(host: "127.0.0.1", port: 0).get()
        let lab = try ClientLab(try #require(server.localAddress?.port))
        let words = try await lab.waitForFailure().description
        #expect(words.contains("the broker sent an invalid packet"))
        await lab.stop()
        try await server.close()
    }
}
