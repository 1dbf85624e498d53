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

    init(_ dialogue: ProxyDialogue) { self.dialogue = dialogue }

    /// Begins to speak, now or when the connection is ready, and calls the closure once with what came of it.
    func begin(_ completion: @escaping (ProxyOutcome) -> Void) {
        self.completion = completion
        if isActive { open() }
    }

    /// What is known of a refusal when no more is waited for.
    func refusalSoFar() -> ProxyRefusal? { dialogue.end() }

    /// Lets what follows know of the connection, and of what has come for it already.
    func stepAside(_ rest: [UInt8]) {
        guard let context else { return }
        context.fireChannelActive()
        if !rest.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func open() {
        guard !hasBegun, let context else { return }
        hasBegun = true
        if case .nothing = dialogue { complete(.open(rest: [])) } else { send(dialogue.opening, context) }
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
        guard completion != nil else { return }
        switch dialogue.receive(unwrapInboundIn(data)) {
        case .wait: break
        case .send(let bytes): send(bytes, context)
        case .open(let rest): complete(.open(rest: rest))
        case .refused(let refusal): complete(.refused(refusal))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {}

    func channelInactive(context: ChannelHandlerContext) { complete(.refused(dialogue.end() ?? .closed)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { complete(.lost(error)) }
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
