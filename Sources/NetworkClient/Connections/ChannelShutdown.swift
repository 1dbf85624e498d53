import Glibc
import NIOCore
import NIOPosix
import NIOSSL

extension ChannelHandlerContext {
    /// Closes the channel immediately, whatever the server does.
    ///
    /// With a request in progress, the connection is reset: the server learns that nobody waits, and the kernel
    /// releases its send buffer, which it would otherwise keep for minutes if the server does not read. An orderly
    /// close over TLS sends close_notify, and does not wait for the server's (RFC 8446, 6.1).
    ///
    /// - Parameter inOrder: Whether nothing is in progress.
    func shut(inOrder: Bool) {
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        if inOrder {
            close(promise: nil)
        } else {
            _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            if tls == nil { close(promise: nil) }
        }
        // Closes the channel below the TLS handler, which would wait.
        tls?.close(promise: nil)
    }
}
