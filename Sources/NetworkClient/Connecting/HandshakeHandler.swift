import NIOCore
import NIOSSL
import NIOTLS

/// Waits behind the TLS handler for the end of the handshake, tells of it, and steps aside.
final class HandshakeHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// What the trust evaluation said of this connection.
    let verdict: TLSVerdict
    private let tls: NIOSSLClientHandler
    private var result: Result<String?, any Error>?
    private var completion: ((Result<String?, any Error>) -> Void)?

    init(_ tls: NIOSSLClientHandler, _ verdict: TLSVerdict) {
        self.tls = tls
        self.verdict = verdict
    }

    /// Calls the closure once, with the version of TLS or the error; on the loop.
    func whenComplete(_ completion: @escaping (Result<String?, any Error>) -> Void) {
        if let result { completion(result) } else { self.completion = completion }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        guard case .handshakeCompleted? = event as? TLSUserEvent else { return }
        complete(.success(tls.tlsVersion?.text))
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

    private func complete(_ result: Result<String?, any Error>) {
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
