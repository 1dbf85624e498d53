import MQTTCore
import NIOCore

/// Decodes the packets of a connection, and reports its end once.
final class PacketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var decoder: MQTTDecoder
    private let receive: (Result<[MQTTPacket], MQTTFailure>) -> Void
    private var cause: (any Error)?

    init(_ decoder: MQTTDecoder, receive: @escaping (Result<[MQTTPacket], MQTTFailure>) -> Void) {
        self.decoder = decoder
        self.receive = receive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        decoder.append(buffer.readableBytesView)
        var packets: [MQTTPacket] = []
        do throws(MQTTFault) {
            while let packet = try decoder.next() { packets.append(packet) }
        } catch {
            receive(.success(packets))
            receive(.failure(.init(.unreachable, "the broker sent an invalid packet: \(error)")))
            return context.close(promise: nil)
        }
        if !packets.isEmpty { receive(.success(packets)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        cause = cause ?? error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let why = cause.map { "the connection failed: \($0)" } ?? "the broker closed the connection"
        receive(.failure(.init(.unreachable, why)))
    }
}
