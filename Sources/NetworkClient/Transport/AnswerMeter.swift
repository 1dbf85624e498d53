import NIOCore

/// Stands before the decoder and counts what comes, since that tells of nothing before a head is whole.
///
/// So a head, or interim answers without end, are held to their bound however they are made, and it is known whether a
/// byte of an answer has come.
final class AnswerMeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard connection.allows(unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
    }
}
