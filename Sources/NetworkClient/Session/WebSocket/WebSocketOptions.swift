public import NetworkClientCore

/// The settings of a WebSocket.
public struct WebSocketOptions: Sendable, Hashable {
    /// The subprotocols that are offered to the server, in the order of preference; none by default.
    public var subprotocols: [String]
    /// The compression that is offered to the server; nil, the default, for none.
    public var compression: WebSocketCompression?
    /// The maximum size of a received message, after decompression, in bytes; 16 MiB by default.
    ///
    /// A larger message closes the WebSocket with ``WebSocketCloseCode/messageTooLarge``.
    public var maximumMessageSize: Int
    /// The maximum size of the payload of a sent frame, in bytes; 1 MiB by default.
    ///
    /// A larger message is sent in several frames, between which pongs can be sent.
    public var maximumFrameSize: Int
    /// The time without received bytes after which a ping is sent; 20 seconds by default, nil for no pings.
    public var keepAliveInterval: Duration?
    /// The time without received bytes after a ping, after which the connection counts as lost; 20 seconds by default.
    public var keepAliveTimeout: Duration
    /// The maximum wait for the other side's Close frame; 5 seconds by default.
    public var closeTimeout: Duration

    /// Creates options; the properties describe the parameters.
    public init(
        subprotocols: [String] = [],
        compression: WebSocketCompression? = nil,
        maximumMessageSize: Int = 16 << 20,
        maximumFrameSize: Int = 1 << 20,
        keepAliveInterval: Duration? = .seconds(20),
        keepAliveTimeout: Duration = .seconds(20),
        closeTimeout: Duration = .seconds(5)
    ) {
        self.subprotocols = subprotocols
        self.compression = compression
        self.maximumMessageSize = maximumMessageSize
        self.maximumFrameSize = maximumFrameSize
        self.keepAliveInterval = keepAliveInterval
        self.keepAliveTimeout = keepAliveTimeout
        self.closeTimeout = closeTimeout
    }

    /// The offer of the opening handshake.
    var handshake: WebSocketHandshake { .init(subprotocols: subprotocols, compression: compression) }

    /// The reason why the options can't be used; nil if they can.
    var flaw: String? {
        if let flaw = handshake.flaw { return flaw }
        guard maximumMessageSize > 0, maximumFrameSize > 0 else {
            return "maximumMessageSize and maximumFrameSize must be at least 1"
        }
        guard keepAliveInterval.map({ $0 > .zero }) != false, keepAliveTimeout > .zero, closeTimeout >= .zero else {
            return "keepAliveInterval and keepAliveTimeout must be more than zero, and closeTimeout not negative"
        }
        return nil
    }
}
