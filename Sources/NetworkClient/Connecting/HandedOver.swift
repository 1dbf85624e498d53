import NIOCore
import NIOPosix

/// Addresses that are known already, handed to NIO's Happy Eyeballs in place of look-ups.
///
/// NIO takes addresses alternately from what its 'AAAA' and its 'A' query brought, beginning with the former, and looks
/// at nothing but that. So the family which RFC 6724 sorted first is given as 'AAAA': on a machine whose IPv6 is broken
/// or less preferred, IPv4 begins.
struct HandedOver: Resolver, Sendable {
    private let first: [SocketAddress]
    private let others: [SocketAddress]
    private let loop: any EventLoop

    init(_ addresses: [SocketAddress], on loop: any EventLoop) {
        let family = addresses.first?.protocol
        first = addresses.filter { $0.protocol == family }
        others = addresses.filter { $0.protocol != family }
        self.loop = loop
    }

    /// Connects to the one address, or races the several.
    func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
        if let only = first.first, first.count + others.count == 1 { return bootstrap.connect(to: only) }
        return bootstrap.resolver(self).connect(host: "", port: 0)
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(first)
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(others)
    }

    func cancelQueries() {}
}
