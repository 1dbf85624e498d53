import NIOCore
import NetworkClientCore

/// Negotiates with the proxy in front of the origin's handlers, and removes itself when the tunnel is open.
///
/// Until then, the handlers behind it see no bytes and no events: the end of the TLS handshake with the proxy would
/// count as that of the handshake with the origin.
final class ProxyTunnelHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var dialogue: ProxyDialogue
    private var context: ChannelHandlerContext?
    private var completion: ((ProxyOutcome) -> Void)?
    private var isActive = false
    private var hasBegun = false
    /// Whether all events are forwarded to the handlers behind this one.
    private var isAside = false
    /// Bytes that were received before anything was sent to the proxy.
    private var early = ByteBuffer()

    init(_ dialogue: ProxyDialogue) { self.dialogue = dialogue }

    /// Starts the negotiation, now or when the connection is active, and calls the closure once with its outcome.
    func begin(_ completion: @escaping (ProxyOutcome) -> Void) {
        self.completion = completion
        if isActive { open() }
    }

    /// Replaces the dialogue after a refusal, for another one on the same connection.
    func renew(_ dialogue: ProxyDialogue) {
        self.dialogue = dialogue
        hasBegun = false
    }

    /// Returns the refusal as far as it is known, when the negotiation is given up.
    func refusalSoFar() -> ProxyRefusal? { dialogue.end() }

    /// Fires `channelActive` for the handlers behind this one, and forwards the bytes that have already been received
    /// for them.
    ///
    /// - Parameters:
    ///   - rest: The bytes after the proxy's reply: the first bytes from the origin.
    ///   - ready: Makes the connection ready for use. It is called before the bytes are forwarded: otherwise they would
    ///     count as a response without a request.
    func stepAside(_ rest: [UInt8], _ ready: () -> Void) {
        isAside = true
        context?.fireChannelActive()
        ready()
        if !rest.isEmpty {
            context?.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context?.fireChannelReadComplete()
        }
        context?.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func open() {
        guard !hasBegun, let context else { return }
        hasBegun = true
        if case .nothing = dialogue { return complete(.open(rest: Array(early.readableBytesView))) }
        send(dialogue.opening, context)
        if early.readableBytes > 0 { receive(early, context) }
    }

    private func receive(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        switch dialogue.receive(bytes) {
        case .wait: break
        case .send(let bytes): send(bytes, context)
        case .open(let rest): complete(.open(rest: rest))
        case .refused(let refusal): complete(.refused(refusal))
        }
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    private func complete(_ outcome: ProxyOutcome) {
        let completion = completion
        self.completion = nil
        completion?(outcome)
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        isActive = true
        if completion != nil { open() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard hasBegun else {
            early.writeBuffer(&bytes)
            return
        }
        if completion != nil { receive(bytes, context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {}

    func channelInactive(context: ChannelHandlerContext) {
        if isAside { context.fireChannelInactive() } else { complete(.refused(dialogue.end() ?? .closed)) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isAside { context.fireUserInboundEventTriggered(event) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isAside { context.fireErrorCaught(error) } else { complete(.lost(error)) }
    }
}

/// The outcome of the negotiation with a proxy.
enum ProxyOutcome {
    /// The tunnel is open; with the bytes that the origin has already sent.
    case open(rest: [UInt8])
    /// The proxy refused, or closed the connection.
    case refused(ProxyRefusal)
    /// The connection failed.
    case lost(any Error)
}
