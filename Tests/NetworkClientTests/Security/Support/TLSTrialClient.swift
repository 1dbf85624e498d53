import HTTPLab
import NIOCore
import NIOPosix
import NIOSSL
import NetworkLab
import Testing

@testable import NetworkClient

/// The client's side of a connection on which a handshake is tried.
struct TLSTrialClient: Sendable {
    let channel: any Channel
    let end: Observed<TLSClientEnd?>
    /// The TLS handler, referenced weakly.
    let handler: WeakHandler

    /// Performs a handshake on a connected socket.
    static func connect(_ socket: Int32, _ options: TLSOptions, host: String = "localhost") async throws -> Self {
        let tls = try TLSClient(options)
        let end = Observed<TLSClientEnd?>(nil)
        let reference = WeakHandler()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        let channel = try await bootstrap.channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let (handler, verdict) = try tls.makeHandler(host: host)
                reference.handler = handler
                let probe = TLSClientProbe(handler, verdict, host: host, end)
                try channel.pipeline.syncOperations.addHandlers([handler, probe])
            }
        }.withConnectedSocket(socket).get()
        return Self(channel: channel, end: end, handler: reference)
    }

    /// Waits for the response or the error, and closes the connection.
    func finish() async throws -> TLSClientEnd {
        let end = try await end.wait(for: "the handshake's end") { $0 != nil }
        try? await channel.close()
        return try #require(end)
    }
}

/// How a client's trial ended.
struct TLSClientEnd: Sendable {
    var error: HTTPError?
    var version: TLSVersion?
}

/// A weak reference to a handler.
///
/// The reference is set once, before anybody else has it; to read a weak one is safe on any thread.
final class WeakHandler: @unchecked Sendable {
    weak var handler: NIOSSLClientHandler?

    /// Returns once the handler has been released, or the task is cancelled.
    func waitUntilReleased() async { while handler != nil, !Task.isCancelled { await Polling.pause() } }
}
