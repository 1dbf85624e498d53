import NIOCore

/// The credentials of a Unix socket's peer (`struct ucred`, unix(7)).
struct PeerCredentials: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0

    /// `SO_PEERCRED` (asm-generic/socket.h).
    private static let option: CInt = 17

    /// Returns the user at the other end; nobody's number if the kernel does not tell.
    static func user(of channel: any Channel) -> UInt32 {
        let nobody: UInt32 = 65_534
        guard let provider = channel as? any SocketOptionProvider else { return nobody }
        var user = nobody
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .socket,
            name: .init(rawValue: option)
        )
        // Known immediately on the event loop.
        credentials.assumeIsolated().whenSuccess { user = $0.user }
        return user
    }
}
