import NIOCore
import NetworkClientCore

/// Stands before all that is the origin's, and lets it know of the connection when the proxy has opened the way.
///
/// Until then nothing of what comes, nor that the connection is there or has gone, is seen behind it; then it steps aside.
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
    /// Whether all that happens from now on is for the handlers behind this one.
    private var isAside = false
    /// What came before anything was said to the proxy.
    private var early = ByteBuffer()

    init(_ dialogue: ProxyDialogue) { self.dialogue = dialogue }

    /// Begins to speak, now or when the connection is ready, and calls the closure once with what came of it.
    func begin(_ completion: @escaping (ProxyOutcome) -> Void) {
        self.completion = completion
        if isActive { open() }
    }

    /// What is known of a refusal when no more is waited for.
    func refusalSoFar() -> ProxyRefusal? { dialogue.end() }

    /// Tells the handlers behind this one of the connection, and hands on what has come for them already.
    ///
    /// - Parameters:
    ///   - rest: What followed the proxy's reply: the origin's first bytes.
    ///   - ready: Makes the connection ready to be used. It is called before the bytes are handed on: the origin's response
    ///     to a request that has not been sent yet would be one that nobody asked for.
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

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isAside { context.fireErrorCaught(error) } else { complete(.lost(error)) }
    }
}

/// What came of speaking with a proxy.
enum ProxyOutcome {
    /// The way is open; with what has come from the origin already.
    case open(rest: [UInt8])
    /// The proxy said no, or went.
    case refused(ProxyRefusal)
    /// The connection failed.
    case lost(any Error)
}
