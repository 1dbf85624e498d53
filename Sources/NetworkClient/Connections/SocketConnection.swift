import NIOCore
import ReachabilityCore

/// A connection that the client makes itself, whose path can be followed.
///
/// Confined to its event loop.
protocol SocketConnection: HTTPConnection, PathFollowing {
    /// Its channel; nil before it is installed, and once it is closed.
    var channel: (any Channel)? { get }
    /// Whether its path is followed.
    var isFollowed: Bool { get set }
    /// Whether it is closed.
    var isClosed: Bool { get }

    /// Adds its handlers to a channel.
    func install(in channel: any Channel) throws

    /// Starts the idle timeout if no exchange uses it; it is closed after that.
    func becomeIdle()
}

extension SocketConnection {
    /// The addresses of both ends; nil if there is no channel, or it is not an IP socket.
    var addresses: (local: IPAddress, remote: IPAddress)? {
        guard let channel, let local = channel.localAddress.flatMap({ IPAddress($0) }),
            let remote = channel.remoteAddress.flatMap({ IPAddress($0) })
        else { return nil }
        return (local, remote)
    }
}
