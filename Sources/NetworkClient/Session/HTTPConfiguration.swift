import Glibc
import NIOHTTP1

/// How a session behaves.
public struct HTTPConfiguration: Sendable {
    /// Fields that every request has, unless it says otherwise itself.
    public var headers: HTTPFields
    /// How long each stage of a request may take.
    public var timeouts: Timeouts
    /// Whom to trust over TLS, and as whom to appear.
    public var tls: TLSOptions
    /// How parameters are put into requests.
    public var requestSerializer: any RequestSerializer
    /// How many connections there may be to one endpoint at once; further requests wait.
    public var maximumConnectionsPerHost: Int
    /// How long an unused connection is kept; nil for as long as the server keeps it.
    public var idleTimeout: Duration?
    /// The size of an answer's body at most, decompressed, in bytes.
    public var maximumBodySize: Int
    /// The size of an answer's head at most, in bytes.
    public var maximumHeadSize: Int
    /// Whether answers may come compressed (`Accept-Encoding`); they are decompressed as they come.
    public var decompresses: Bool
    /// What connections are bound to, unless a request says otherwise.
    public var binding: LocalBinding
    /// The path of a Unix socket on which all requests are sent, whatever their URL's host; nil for the network.
    public var unixSocketPath: String?
    /// Who follows all requests.
    public var eventMonitors: [any EventMonitor]
    /// What carries requests in place of the session's own connections; nil for these.
    public var transport: (any Transport)?

    /// Makes a configuration.
    public init(
        headers: HTTPFields = [:],
        timeouts: Timeouts = .init(),
        tls: TLSOptions = .init(),
        requestSerializer: any RequestSerializer = FormSerializer(),
        maximumConnectionsPerHost: Int = 6,
        idleTimeout: Duration? = .seconds(60),
        maximumBodySize: Int = 64 << 20,
        maximumHeadSize: Int = 256 << 10,
        decompresses: Bool = true,
        binding: LocalBinding = .none,
        unixSocketPath: String? = nil,
        eventMonitors: [any EventMonitor] = [],
        transport: (any Transport)? = nil
    ) {
        self.headers = headers
        self.timeouts = timeouts
        self.tls = tls
        self.requestSerializer = requestSerializer
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.idleTimeout = idleTimeout
        self.maximumBodySize = maximumBodySize
        self.maximumHeadSize = maximumHeadSize
        self.decompresses = decompresses
        self.binding = binding
        self.unixSocketPath = unixSocketPath
        self.eventMonitors = eventMonitors
        self.transport = transport
    }

    var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderListSize = maximumHeadSize
        limits.maxHeaderFieldSize = min(limits.maxHeaderFieldSize, maximumHeadSize)
        return limits
    }
}
