import NIOCore
import NIOSSL
import NIOTLS
import NetworkClientCore

/// A channel that is being connected, with the handlers between TCP and the user's handlers.
struct PreparedChannel {
    let channel: any Channel
    /// The TLS handshake with the proxy itself.
    let proxyHandshake: HandshakeHandler?
    /// The handler that negotiates with the proxy.
    let tunnel: ProxyTunnelHandler?
    /// The TLS handshake with the origin.
    let handshake: HandshakeHandler?

    /// Adds the handlers to a channel, from the socket's side.
    ///
    /// - Throws: ``HTTPError``, or an error from NIO.
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
                processing: .neverSent,
                reason: "a secure connection needs a TLS client: give the connector one"
            )
        }
        handshake = try Self.add(
            tls,
            host: plan.endpoint.nameForTLS,
            for: plan.request,
            offersHTTP2: plan.endpoint.offersHTTP2,
            to: pipeline
        )
    }

    private static func add(
        _ tls: TLSClient,
        host: String,
        for request: OpeningRequest = .unknown,
        offersHTTP2: Bool = false,
        to pipeline: ChannelPipeline.SynchronousOperations
    ) throws -> HandshakeHandler {
        let (handler, verdict) = try tls.makeHandler(host: host, for: request, offersHTTP2: offersHTTP2)
        let handshake = HandshakeHandler(handler, verdict)
        try pipeline.addHandlers(handler, handshake)
        return handshake
    }
}

/// The result of a TLS handshake.
struct HandshakeResult: Sendable {
    /// The TLS version, such as `TLSv1.3`.
    let version: String?
    /// The protocol that the server selected (ALPN, RFC 7301); nil for none.
    let applicationProtocol: String?
}

/// Waits behind the TLS handler for the end of the handshake, reports it, and removes itself.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The result of the trust evaluation for this connection.
    let verdict: TLSVerdict
    private let tls: NIOSSLClientHandler
    private var result: Result<HandshakeResult, any Error>?
    private var completion: ((Result<HandshakeResult, any Error>) -> Void)?

    init(_ tls: NIOSSLClientHandler, _ verdict: TLSVerdict) {
        self.tls = tls
        self.verdict = verdict
    }

    /// Calls the closure once on the loop.
    func whenComplete(_ completion: @escaping (Result<HandshakeResult, any Error>) -> Void) {
        if let result { completion(result) } else { self.completion = completion }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted(let selected)? = event as? TLSUserEvent else { return }
        complete(.success(.init(version: tls.tlsVersion?.text, applicationProtocol: selected)))
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        complete(.failure(error))
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        complete(.failure(ChannelError.eof))
        context.fireChannelInactive()
    }

    private func complete(_ result: Result<HandshakeResult, any Error>) {
        guard self.result == nil else { return }
        self.result = result
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}

extension TLSVersion {
    /// The version's name as it is usually written.
    fileprivate var text: String {
        switch self {
        case .tlsv1: "TLSv1"
        case .tlsv11: "TLSv1.1"
        case .tlsv12: "TLSv1.2"
        case .tlsv13: "TLSv1.3"
        }
    }
}
