import Glibc
import NIOCore
import NIOSSL

extension ConnectionHandler {
    /// Closes the channel; at once, whatever the server does.
    ///
    /// With a request under way it is reset, which tells the server that nobody waits, and frees what the kernel holds of
    /// it; that would otherwise stay for minutes if the server does not read. Over TLS a close in order says so to the
    /// server, and does not wait for it to say the same (RFC 8446, 6.1).
    func shut(inOrder: Bool) {
        guard let context else { return }
        let pipeline = context.pipeline.syncOperations
        let tls = try? pipeline.context(handlerType: NIOSSLClientHandler.self)
        if inOrder {
            context.close(promise: nil)
        } else {
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            if tls == nil { context.close(promise: nil) }
        }
        // Beneath the TLS handler, which would wait.
        tls?.close(promise: nil)
    }
}
