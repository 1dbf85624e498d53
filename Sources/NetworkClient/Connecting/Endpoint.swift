import Glibc
import NIOCore
import NetworkClientCore
import ReachabilityCore

/// The destination of a connection and the parameters of its route: the key of the connection pools.
struct Endpoint: Sendable, Hashable {
    /// Whether TLS is used.
    var isSecure: Bool
    /// The host in its ASCII form, lower case, without brackets; for a Unix socket, the host of the URL.
    var host: String
    /// The port.
    var port: Int
    /// The path of a Unix socket, where one is used instead of host and port.
    var socketPath: String?
    /// The interface or source address that the socket is bound to.
    var binding: LocalBinding = .unbound
    /// The requirement on the path, which the binding enforces.
    var requirement: PathRequirement = .any
    /// The proxy; nil for none.
    var proxy: ProxyServer?
    /// Whether a proxy opens a tunnel for it even without TLS, as for a WebSocket (RFC 6455, 4.1).
    var needsTunnel = false
    /// The TLS client of requests with TLS options of their own; nil for that of the session.
    var tls: RequestTLS?
    /// The type of traffic; nil for the kernel's defaults.
    var serviceType: NetworkServiceType?
    /// The use of HTTP/2; off for the connection of a WebSocket.
    var http2 = HTTP2Policy.off
}

/// The interface or source address that a connection's socket is bound to.
public enum LocalBinding: Sendable, Hashable {
    /// The kernel chooses.
    case unbound
    /// An interface by its name: packets leave through it and no other (SO_BINDTOIFINDEX, socket(7)).
    case interface(String)
    /// An interface by its index.
    case interfaceIndex(Int32)
    /// A source address, numeric.
    case address(String)
}

extension Endpoint {
    /// The endpoint for messages: host and port, or the Unix socket's path.
    var text: String { socketPath ?? HostText.hostAndPort(host, port) }

    /// The endpoint and its proxy, for messages about the route.
    var way: String { proxy.map { "\(text) by the proxy \($0)" } ?? text }

    /// Whether requests to it don't leave this machine, whatever its name resolves to.
    var isOnThisMachine: Bool {
        if socketPath != nil { return true }
        if HostName.isLocal(host) { return true }
        return IPAddress(host)?.isLoopback ?? false
    }

    /// The host as used in TLS: without the trailing dot of a fully qualified name (RFC 6066, 3) and without an
    /// address's zone.
    var nameForTLS: String {
        if host.contains(":") { return HostText.withoutZone(host) }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// The address, if it is known without a lookup.
    ///
    /// - Throws: `invalidConfiguration` for a path that is too long, `interfaceNotFound` for an address's zone.
    func literalAddress() throws(HTTPError) -> SocketAddress? {
        guard let socketPath else { return HostName.isNumeric(host) ? try .numeric(host, port: port) : nil }
        do {
            return try SocketAddress(unixDomainSocketPath: socketPath)
        } catch {
            throw .init(
                .invalidConfiguration,
                processing: .neverSent,
                reason: "the Unix socket's path '\(socketPath)' is too long: the kernel takes 107 bytes",
                cause: error
            )
        }
    }

    /// Returns an address from a lookup with this endpoint's port.
    func withPort(_ address: SocketAddress) -> SocketAddress {
        var address = address
        address.port = port
        return address
    }
}

extension SocketAddress {
    /// Creates a numeric address; IPv6 may have a zone (an interface's name or index), which getaddrinfo(3) parses.
    ///
    /// - Throws: `interfaceNotFound` for an unknown zone, `invalidURL` if the text is not an address.
    static func numeric(_ text: String, port: Int) throws(HTTPError) -> SocketAddress {
        guard text.contains("%") else {
            if let address = try? SocketAddress(ipAddress: text, port: port) { return address }
            throw .invalidURL("'\(text)' is no numeric address")
        }
        if case .addresses(let addresses) = SystemLookup.addresses(of: text, isNumeric: true),
            var address = addresses.first
        {
            address.port = port
            return address
        }
        throw .init(
            .interfaceNotFound,
            processing: .neverSent,
            reason: "there is no interface for the zone of \(text): 'ip link' lists the interfaces",
            errno: ENODEV
        )
    }

    /// The address for messages and metrics: `192.0.2.1:80`, `[2001:db8::1]:80`, or a path.
    var text: String {
        guard let ipAddress, let port else { return pathname ?? "a Unix socket" }
        return HostText.hostAndPort(ipAddress, port)
    }
}
