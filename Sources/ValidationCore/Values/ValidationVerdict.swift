/// Whether packets reach the internet over a path, as far as it is known.
public enum ValidationVerdict: Sendable, Hashable {
    /// A server of the configuration, or one that the program used, has answered.
    case validated
    /// A captive portal answers in place of servers, until somebody logs in.
    case portal(CaptivePortal)
    /// No server can be reached as itself.
    case noInternet(NoInternetReason)
    /// Nothing is known: nothing was asked on this path, or no answer allows a conclusion.
    case notChecked
}

/// A captive portal (RFC 8952), as far as it has described itself.
public struct CaptivePortal: Sendable, Hashable {
    /// The page to log in at, as the portal gives it; nil if it only answers in place of servers.
    ///
    /// Anyone on the network may have chosen it. Show it with its host, and open it nowhere but in a browser.
    public var loginURL: String?
    /// The page about the place, such as a hotel (RFC 8908).
    public var venueURL: String?

    /// Creates a description.
    public init(loginURL: String? = nil, venueURL: String? = nil) {
        self.loginURL = loginURL
        self.venueURL = venueURL
    }
}

/// The limits of a session that a captive portal has granted (RFC 8908).
public struct PortalSession: Sendable, Hashable {
    /// When it ends; nil without such a limit.
    public var end: ValidationInstant?
    /// The number of bytes that were left when the portal was asked; nil without such a limit.
    public var bytesLeft: Int64?
    /// Whether it can be extended at the portal's page; nil if the portal does not say.
    public var isExtensible: Bool?

    /// Creates limits.
    public init(end: ValidationInstant? = nil, bytesLeft: Int64? = nil, isExtensible: Bool? = nil) {
        self.end = end
        self.bytesLeft = bytesLeft
        self.isExtensible = isExtensible
    }
}

/// The reason why a path does not lead to the internet.
public enum NoInternetReason: Sendable, Hashable {
    /// No endpoint answers.
    case noResponse
    /// A router reports that it can't deliver (ICMP), or the kernel that the gateway does not answer.
    case unreachable
    /// All endpoints refuse connections, of which there are at least two: something on the path refuses for them.
    case refused
    /// Connections are cut before an endpoint answers.
    case connectionCut
    /// No name server answers, or it can't resolve.
    case nameServer
    /// The names of all endpoints, of which there are at least two, do not exist for the name server.
    case unknownNames
    /// Somebody answers with a certificate that is not the endpoint's: a portal, or a proxy that inspects TLS. With what was
    /// wrong with the certificate.
    case interception(String)
    /// A proxy requires credentials (407).
    case proxyLogin

    /// The reason as one dotted word, for logs and JSON.
    public var name: String {
        switch self {
        case .noResponse: "internet.noResponse"
        case .unreachable: "internet.unreachable"
        case .refused: "internet.refused"
        case .connectionCut: "internet.connectionCut"
        case .nameServer: "internet.nameServer"
        case .unknownNames: "internet.unknownNames"
        case .interception: "internet.interception"
        case .proxyLogin: "internet.proxyLogin"
        }
    }
}
