package import NIOCore
import NetworkClientCore

/// Opens connections for another protocol than HTTP, with the resolver, the trust and the socket binding of the HTTP client.
package struct StreamConnector: Sendable {
    /// Where a connection leads, and through what.
    package struct Target: Sendable, Hashable {
        /// The host's name or address.
        package var host: String
        /// The port.
        package var port: Int
        /// The interface or source address of the socket.
        package var binding: LocalBinding

        package init(host: String, port: Int, binding: LocalBinding = .unbound) {
            self.host = host
            self.port = port
            self.binding = binding
        }
    }

    private let connector: Connector
    private let isSecure: Bool

    /// Creates a connector.
    ///
    /// - Parameters:
    ///   - tls: The TLS options; nil for connections without TLS.
    ///   - protocols: The application protocols that TLS offers; none by default.
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    package init(tls: TLSOptions?, protocols: [String] = []) throws(HTTPError) {
        var client: TLSClient?
        if let tls { client = try TLSClient(tls, protocols: protocols) }
        connector = Connector(tls: client)
        isSecure = client != nil
    }

    /// Opens a connection on the loop.
    ///
    /// - Parameters:
    ///   - target: Where to.
    ///   - timeout: The timeout of each stage: name, TCP and TLS.
    ///   - loop: The event loop.
    ///   - initialize: Adds the handlers, before the channel becomes active.
    /// - Returns: The connection, and how to cancel it; it fails with an ``HTTPError``.
    package func connect(
        to target: Target,
        timeout: Duration,
        on loop: any EventLoop,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> (established: EventLoopFuture<any Channel>, cancel: @Sendable () -> Void) {
        var endpoint = Endpoint(isSecure: isSecure, host: target.host, port: target.port)
        endpoint.binding = target.binding
        let limits = Timeouts(resolve: timeout, connect: timeout, tls: timeout)
        let attempt = connector.connect(to: endpoint, limits: limits, on: loop, initialize: initialize)
        return (attempt.established.map(\.channel), { attempt.cancel() })
    }
}
