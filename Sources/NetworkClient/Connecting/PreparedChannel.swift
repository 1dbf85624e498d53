import NIOCore
import NIOSSL
import NetworkClientCore

/// A channel that is being connected, with all that stands between TCP and the user's handlers.
struct PreparedChannel {
    let channel: any Channel
    /// TLS with the proxy itself.
    let proxyHandshake: HandshakeHandler?
    /// What asks the proxy to lead on.
    let tunnel: ProxyTunnelHandler?
    /// TLS with the origin.
    let handshake: HandshakeHandler?

    /// Makes a channel ready, from the kernel's side on.
    ///
    /// - Throws: ``HTTPError``, or what NIO says.
    init(_ channel: any Channel, _ plan: ConnectionProcess.Plan, _ dialogue: ProxyDialogue?) throws {
        self.channel = channel
        let pipeline = channel.pipeline.syncOperations
        proxyHandshake =
            plan.endpoint.proxy?.scheme == .https
            ? try Self.add(TLSClient(plan.proxies.tls), host: plan.endpoint.nextHop.nameForTLS, to: pipeline) : nil
        tunnel = dialogue.map(ProxyTunnelHandler.init)
        if let tunnel { try pipeline.addHandler(tunnel) }
        guard plan.endpoint.isSecure else {
            handshake = nil
            return
        }
        guard let tls = plan.tls else {
            throw HTTPError(
                .invalidConfiguration,
                .neverSent,
                "a secure connection needs a TLS client: give the connector one"
            )
        }
        handshake = try Self.add(tls, host: plan.endpoint.nameForTLS, to: pipeline)
    }

    private static func add(
        _ tls: TLSClient,
        host: String,
        to pipeline: ChannelPipeline.SynchronousOperations
    ) throws -> HandshakeHandler {
        let (handler, verdict) = try tls.makeHandler(host: host)
        let handshake = HandshakeHandler(handler, verdict)
        try pipeline.addHandlers(handler, handshake)
        return handshake
    }
}
