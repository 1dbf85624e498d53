import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab

@testable import NetworkClient

/// A name server on 127.0.0.1 in its own namespace, and lookups that use it.
final class LabNameServer: Sendable {
    private let channel: any Channel
    private let lab: LabNamespace
    private let folder: LabFolder

    /// Listens on port 53 of the loops' namespace.
    init(_ manner: NameServerHandler.Manner, in loops: LabLoops) async throws {
        lab = loops.lab
        folder = try LabFolder()
        // A response is waited for, however busy the machine is.
        let limits = if case .silence = manner { "attempts:1 timeout:2" } else { "attempts:5 timeout:30" }
        try folder.write("resolv.conf", "nameserver 127.0.0.1\noptions \(limits)\n")
        channel = try await loops.lab.run {
            DatagramBootstrap(group: loops.group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(NameServerHandler(manner))
                    }
                }
                .bind(host: "127.0.0.1", port: 53)
        }.get()
    }

    /// Responds to the queries that are held, and to all later ones, with a failure of the server.
    func releaseQueries() { channel.pipeline.fireUserInboundEventTriggered(NameServerHandler.Release()) }

    /// Starts a lookup on a thread whose /etc/resolv.conf names this server; the resolver's own thread inherits its
    /// mount namespace.
    func resolve(_ name: String, by resolver: NameResolver, limit: Duration = .seconds(120)) throws -> NameQuery {
        let query = LabInbox<Result<NameQuery, any Error>>()
        let thread = try LabThread { [self] in
            query.put(
                Result {
                    try LabMount.cover("/etc/resolv.conf", with: "\(folder.path)/resolv.conf")
                    return try lab.run { resolver.resolve(name, limit: limit, on: channel.eventLoop) }
                }
            )
        }
        thread.join()
        return try query.wait(for: "the query") { !$0.isEmpty }[0].get()
    }
}

/// Responds to all queries in the same manner (RFC 1035, 4.1).
final class NameServerHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    /// The response to queries.
    enum Manner: Sendable {
        /// Never.
        case silence
        /// With a server failure, after ``LabNameServer/releaseQueries()``.
        case held
        /// With a code and no record: 0 no error, 2 server failure, 3 no such name.
        case code(UInt8)
        /// With these IPv4 addresses; there are no IPv6 addresses.
        case addresses([[UInt8]])
    }

    /// The event that ends the wait of held queries.
    struct Release: Sendable {}

    private let manner: Manner
    private var held: [AddressedEnvelope<ByteBuffer>] = []
    private var isReleased = false

    init(_ manner: Manner) { self.manner = manner }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var envelope = unwrapInboundIn(data)
        guard let response = response(to: Array(envelope.data.readableBytesView)) else { return }
        envelope.data = ByteBuffer(bytes: response)
        if case .held = manner, !isReleased { return held.append(envelope) }
        context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is Release else { return context.fireUserInboundEventTriggered(event) }
        isReleased = true
        for response in held { context.writeAndFlush(wrapOutboundOut(response), promise: nil) }
        held = []
    }

    /// Returns the query as a response: with a changed header, and with the records appended.
    private func response(to query: [UInt8]) -> [UInt8]? {
        guard query.count > 12, let end = query[12...].firstIndex(of: 0), query.count >= end + 5 else { return nil }
        var response = Array(query[..<(end + 5)])
        var records: [[UInt8]] = []
        var code: UInt8 = 0
        switch manner {
        case .silence: return nil
        case .held: code = 2
        case .code(let value): code = value
        case .addresses(let addresses): records = query[end + 2] == 1 ? addresses : []
        }
        response[2...11] = [0x81, 0x80 | code, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0]
        return records.reduce(into: response) { $0 += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + $1 }
    }
}
