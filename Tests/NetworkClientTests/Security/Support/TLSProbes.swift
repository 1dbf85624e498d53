import HTTPLab
import NIOCore
import NIOSSL

@testable import NetworkClient

/// Sends a request as early as possible, and reports the result.
final class TLSClientProbe: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let request = "GET / HTTP/1.1\r\n\r\n"
    private let tls: NIOSSLClientHandler
    private let verdict: TLSVerdict
    private let host: String
    private let end: Observed<TLSClientEnd?>

    init(_ tls: NIOSSLClientHandler, _ verdict: TLSVerdict, host: String, _ end: Observed<TLSClientEnd?>) {
        self.tls = tls
        self.verdict = verdict
        self.host = host
        self.end = end
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.request)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { finish(nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(verdict.error(for: error, host: host))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(verdict.error(for: ChannelError.eof, host: host))
    }

    /// Only the first call has an effect.
    private func finish(_ error: HTTPError?) {
        let found = TLSClientEnd(error: error, version: tls.tlsVersion)
        end.update { end in if end == nil { end = found } }
    }
}

/// Responds to a request, and records it.
final class TLSServerProbe: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let record: Observed<TLSServerRecord>

    init(_ record: Observed<TLSServerRecord>) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        let request = record.update { record in
            record.request += bytes
            return record.request
        }
        guard request.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 204 No Content\r\n\r\n")), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Records the bytes of the connection, before they are decrypted.
final class TLSRecordRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let record: Observed<TLSServerRecord>

    init(_ record: Observed<TLSServerRecord>) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        record.update { $0.wire += bytes }
        context.fireChannelRead(data)
    }
}
