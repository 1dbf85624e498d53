import Glibc
import HTTPLab
import NIOCore
import NIOPosix
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

@Suite("Connections that stand", .timeLimit(.minutes(5)))
struct ConnectorTests {
    @Test func `a numeric address needs no lookup`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let connection = try await open(.init("127.0.0.1", Int(server.port)), on: loops)
            #expect(connection.metrics.remoteAddress == "127.0.0.1:\(server.port)")
            #expect(connection.metrics.localAddress?.hasPrefix("127.0.0.1:") == true)
            #expect(connection.metrics.resolve == nil)
            #expect(connection.metrics.connect != nil)
            #expect(connection.metrics.tls == nil)
            let noDelay = try await connection.channel.getOption(.tcpOption(.tcp_nodelay)).get()
            #expect(noDelay == 1)
            try await connection.channel.close()
            try await server.waitForEnds()
        }
    }

    @Test func `IPv6, with a zone and without`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(on: .ipv6, in: loops.lab, always: [.readToEnd])
            for host in ["::1", "::1%1"] {
                let connection = try await open(.init(host, Int(server.port)), on: loops)
                #expect(connection.metrics.remoteAddress == "[::1]:\(server.port)")
                try await connection.channel.close()
            }
        }
    }

    @Test(arguments: [ServerAddress.loopback, .ipv6])
    func `programs that are executed do not inherit a connection`(address: ServerAddress) async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(on: address, in: loops.lab, always: [.readToEnd])
            let host = address == .ipv6 ? "::1" : "127.0.0.1"
            let connection = try await open(.init(host, Int(server.port)), on: loops)
            let pipeline = connection.channel.pipeline
            let flags = try await loops.loop.submit {
                try pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
                    fcntl($0, F_GETFD)
                }
            }.get()
            #expect(flags == FD_CLOEXEC)
            try await connection.channel.close()
        }
    }

    @Test func `a Unix socket`() async throws {
        let folder = try LabFolder()
        let path = "\(folder.path)/socket"
        let server = try ScriptedServer(on: .unix(path), always: [.readToEnd])
        try await LabLoops.run { loops in
            let connection = try await open(.init(path: path), on: loops)
            #expect(connection.metrics.remoteAddress == path)
            #expect(connection.metrics.localAddress == nil)
            try await connection.channel.close()
        }
        try await server.waitForEnds()
    }

    @Test func `bound to a source address, and to an interface by name and index`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let port = Int(server.port)
            let bound = try await open(.init("127.0.0.1", port, .address("127.0.0.5")), on: loops)
            #expect(bound.metrics.localAddress?.hasPrefix("127.0.0.5:") == true)
            try await bound.channel.close()
            for binding in [LocalBinding.interface("lo"), .interfaceIndex(1)] {
                let connection = try await open(.init("127.0.0.1", port, binding), on: loops)
                let option = ChannelOptions.Types.SocketOption(level: .socket, name: .init(rawValue: 62))
                let index = try await connection.channel.getOption(option).get()
                #expect(index == 1)
                try await connection.channel.close()
            }
        }
    }

    @Test func `a connection that was accepted while the process was stopped is open`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let endpoint = Endpoint("127.0.0.1", Int(server.port))
            var limits = Timeouts.lasting
            limits.connect = .milliseconds(500)
            let attempt = try await loops.loop.submit { [limits] in
                let attempt = Connector(tls: nil).connect(to: endpoint, limits: limits, on: loops.loop) { _ in }
                stopThread(for: .milliseconds(900))
                return attempt
            }.get()
            let connection = try await attempt.established.get()
            try await connection.channel.close()
        }
    }

    @Test func `the user's handlers receive all events of the connection`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.send("hello"), .close])
            let seen = Observed<[String]>([])
            let attempt = Connector(tls: nil).connect(
                to: .init("127.0.0.1", Int(server.port)),
                limits: .lasting,
                on: loops.loop
            ) { channel in
                try channel.pipeline.syncOperations.addHandler(Diary(seen))
            }
            _ = try await attempt.established.get()
            let all = try await seen.wait(for: "the end") { $0.last == "inactive" }
            #expect(all == ["active", "read", "inactive"])
        }
    }

    @Test func `an error of the user's setup ends the connection`() async throws {
        try await LabLoops.run { loops in
            let server = try ScriptedServer(in: loops.lab, always: [.readToEnd])
            let before = try loops.sockets()
            for thrown in [
                HTTPError(.sessionInvalidated, processing: .neverSent, reason: "over"), LabError("set up", errno: 1),
            ]
                as [any Error]
            {
                let attempt = Connector(tls: nil).connect(
                    to: .init("127.0.0.1", Int(server.port)),
                    limits: .lasting,
                    on: loops.loop
                ) { _ in throw thrown }
                let error = await #expect(throws: HTTPError.self) { try await attempt.established.get() }
                #expect(error?.code == (thrown is HTTPError ? .sessionInvalidated : .connectFailed))
            }
            try await server.waitForEnds(2)
            try await loops.waitForSockets(before)
        }
    }

    private func open(_ endpoint: Endpoint, on loops: LabLoops) async throws -> EstablishedConnection {
        try await Connector(tls: nil).connect(to: endpoint, limits: .lasting, on: loops.loop) { _ in }.established.get()
    }
}

/// Records the events of a channel.
private final class Diary: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let seen: Observed<[String]>

    init(_ seen: Observed<[String]>) { self.seen = seen }

    func channelActive(context: ChannelHandlerContext) { seen.update { $0.append("active") } }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { seen.update { $0.append("read") } }
    func channelInactive(context: ChannelHandlerContext) { seen.update { $0.append("inactive") } }
}
