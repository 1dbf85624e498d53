import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL

@testable import NetworkClient

/// A TLS server on 127.0.0.1, configured by a trial.
struct TLSServer: Sendable {
    /// The record of all clients together.
    let record: Observed<TLSServerRecord>
    private let channel: any Channel

    /// Listens on a free port.
    static func start(_ trial: TLSTrial) async throws -> TLSServer {
        let context = try NIOSSLContext(configuration: trial.serverConfiguration())
        let record = Observed(TLSServerRecord())
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try trial.serverHandlers(context, record, channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TLSServer(record: record, channel: channel)
    }

    /// Its address.
    var url: String { "https://127.0.0.1:\(channel.localAddress?.port ?? 0)/" }

    /// Stops listening.
    func stop() async throws { try await channel.close() }
}
