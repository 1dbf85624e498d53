import NIOCore

/// A connection that is being opened: chooses its protocol, as soon as that is known.
///
/// Confined to the session's event loop. Unchecked, because it is passed to the channel's initializer, which runs there.
final class ConnectionOpening: @unchecked Sendable {
    /// The number by which its pool knows it.
    let id: Int
    private let endpoint: Endpoint
    private let owner: any HTTPConnectionOwner
    private let core: SessionCore
    /// The connection, once its protocol is known.
    private var connection: (any SocketConnection)?

    init(_ id: Int, to endpoint: Endpoint, for owner: any HTTPConnectionOwner, _ core: SessionCore) {
        self.id = id
        self.endpoint = endpoint
        self.owner = owner
        self.core = core
    }

    /// Adds the connection's handlers to its channel, unless the TLS handshake decides on the protocol.
    func prepare(_ channel: any Channel) throws {
        if !endpoint.offersHTTP2 { try install(in: channel, isHTTP2: endpoint.assumesHTTP2) }
    }

    /// Returns the connection, whose channel is open.
    ///
    /// - Throws: ``HTTPError`` if it can't be used.
    func finish(_ established: EstablishedConnection) throws -> any SocketConnection {
        if connection == nil {
            try install(in: established.channel, isHTTP2: established.applicationProtocol == "h2")
        }
        guard let connection, !connection.isClosed else {
            let reason = "the connection to \(endpoint.text) was closed before it could be used"
            throw HTTPError(.connectionLost, processing: .neverSent, reason: reason)
        }
        return connection
    }

    private func install(in channel: any Channel, isHTTP2: Bool) throws {
        let connection: any SocketConnection = isHTTP2 ? makeHTTP2Connection() : makeHTTP1Connection()
        try connection.install(in: channel)
        self.connection = connection
    }

    private func makeHTTP1Connection() -> HTTP1Connection {
        .init(
            id,
            owner,
            on: core.loop,
            maximumHeadSize: core.configuration.maximumHeadSize,
            idleTimeout: core.configuration.idleTimeout
        )
    }

    private func makeHTTP2Connection() -> HTTP2Connection {
        let settings = HTTP2ClientSettings(
            host: endpoint.text,
            isSecure: endpoint.isSecure,
            maximumHeadSize: core.configuration.maximumHeadSize,
            maximumSilence: core.configuration.fixedLimits.silence,
            silenceBeforeCancellation: core.configuration.fixedLimits.silenceBeforeCancellation
        )
        return .init(id, owner, on: core.loop, settings, idleTimeout: core.configuration.idleTimeout)
    }
}
