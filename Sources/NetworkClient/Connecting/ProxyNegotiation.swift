import NIOCore
import NetworkClientCore
import ReachabilityCore

/// The negotiation of one connection with its proxy, which may take several TCP connections: what to send on each, and
/// whether to try again after a refusal.
struct ProxyNegotiation {
    let proxy: ProxyServer
    private let endpoint: Endpoint
    private let authenticator: ProxyAuthenticator
    private let maximumHead: Int
    /// The origin's addresses that have not been tried yet, if this client looks them up.
    private var addresses: [IPAddress] = []
    /// The authorization that the proxy was sent last.
    private var proof: ProxyProof?
    private var challenges = 0
    /// The mechanism for the scheme Negotiate; nil for none.
    private let mechanism: (any SecurityMechanism)?
    /// The exchange of tokens with the proxy, and the token that is sent next.
    private var tokens: (context: any SecurityContext, next: [UInt8]?, isComplete: Bool)?

    init(_ proxy: ProxyServer, to endpoint: Endpoint, _ settings: ProxyContext) {
        self.proxy = proxy
        self.endpoint = endpoint
        authenticator = settings.authenticator
        maximumHead = settings.maximumHead
        mechanism = proxy.user == nil ? settings.mechanism : nil
    }

    /// Whether this client must look up the origin's name first.
    var needsAddresses: Bool {
        proxy.scheme == .socks5 && !HostName.isNumeric(endpoint.host) && addresses.isEmpty
    }

    /// Sets the origin's addresses.
    mutating func take(_ addresses: [SocketAddress]) { self.addresses = addresses.compactMap { IPAddress($0) } }

    /// Returns the dialogue for a new connection to the proxy; nil if requests are forwarded to it over plain TCP.
    mutating func dialogue() -> ProxyDialogue? {
        guard proxy.scheme.isSOCKS else {
            guard !endpoint.isForwarded else { return proxy.scheme == .https ? .nothing : nil }
            proof =
                tokens?.next.map { ProxyProof(value: NegotiateField.value($0)) }
                ?? authenticator.proof(for: proxy, method: "CONNECT", target: endpoint.authority)
            tokens?.next = nil
            let fields = proof.map { [ProxyResponse.Field("Proxy-Authorization", $0.value)] } ?? []
            return .connect(.init(to: endpoint.authority, fields: fields, maximumHead: maximumHead))
        }
        let port = UInt16(clamping: endpoint.port)
        return .socks(.init(to: destination, port: port, login: proxy.login))
    }

    /// Returns the step by which a token is obtained for the proxy; nil if its refusal asks for none, or refuses the last
    /// one.
    mutating func tokenStep(after refusal: ProxyRefusal) -> ProxyTokenStep? {
        guard let mechanism, case .response(let response) = refusal, response.status == 407,
            let challenge = NegotiateField.challenge(in: response.values(of: "Proxy-Authenticate"))
        else { return nil }
        challenges += 1
        guard challenges <= NegotiateField.maximumTokens else { return nil }
        guard let tokens else {
            let context = mechanism.makeContext(for: proxy.host)
            self.tokens = (context, nil, false)
            return .init(context: context, token: nil)
        }
        guard !tokens.isComplete, let token = NegotiateField.token(of: challenge) else { return nil }
        return .init(context: tokens.context, token: token)
    }

    /// Sets the token that is sent next.
    mutating func take(_ token: [UInt8], isComplete: Bool) {
        tokens?.next = token
        tokens?.isComplete = isComplete
    }

    private var destination: SOCKS5Dialogue.Destination {
        if let address = addresses.first { return .address(address) }
        return IPAddress(HostText.withoutZone(endpoint.host)).map { .address($0) } ?? .name(endpoint.nameForTLS)
    }

    /// Handles a refusal.
    ///
    /// - Returns: Whether to try again with another connection to the proxy.
    mutating func mayRetry(after refusal: ProxyRefusal) -> Bool {
        switch refusal {
        case .response(let response) where response.status == 407:
            challenges += 1
            guard challenges <= ProxyAuthenticator.maximumChallenges else { return false }
            return authenticator.learn(response.values(of: "Proxy-Authenticate"), from: proxy, after: proof)
        case .reply(let code) where SOCKSReply.isOfTheAddress(code) && addresses.count > 1:
            addresses.removeFirst()
            return true
        default: return false
        }
    }
}

/// A step of the exchange of tokens with a proxy.
struct ProxyTokenStep {
    let context: any SecurityContext
    /// The proxy's token; nil to begin.
    let token: [UInt8]?
}

extension Endpoint {
    /// Host and port for a proxy: IPv6 in brackets and without its zone, which is meaningful on this machine only.
    var authority: String { HostText.hostAndPort(nameForTLS, port) }

    /// The endpoint that TCP connects to: the proxy, if there is one.
    var nextHop: Endpoint {
        guard let proxy else { return self }
        return .init(isSecure: false, host: proxy.host, port: proxy.port, binding: binding, requirement: requirement)
    }

    /// Whether requests are sent to the proxy, which forwards them, rather than through a tunnel.
    var isForwarded: Bool {
        guard let proxy else { return false }
        return !isSecure && !needsTunnel && !proxy.scheme.isSOCKS
    }
}

/// The dialogue with a proxy before the connection leads to the origin.
enum ProxyDialogue: Sendable {
    /// None: requests are forwarded to the proxy, once TLS with it is established.
    case nothing
    case connect(ConnectDialogue)
    case socks(SOCKS5Dialogue)

    /// The first bytes to send.
    var opening: [UInt8] {
        switch self {
        case .nothing: []
        case .connect(let dialogue): dialogue.request
        case .socks(let dialogue): dialogue.greeting
        }
    }

    /// Processes received bytes.
    mutating func receive(_ bytes: ByteBuffer) -> ProxyStep {
        switch self {
        case .nothing: return .wait
        case .connect(var dialogue):
            defer { self = .connect(dialogue) }
            return dialogue.receive(bytes.readableBytesView)
        case .socks(var dialogue):
            defer { self = .socks(dialogue) }
            return dialogue.receive(bytes.readableBytesView)
        }
    }

    /// Returns the refusal as far as it is known, when nothing more will be received.
    func end() -> ProxyRefusal? {
        guard case .connect(let dialogue) = self else { return nil }
        return dialogue.end()
    }
}

/// The settings that a session has for its proxies.
struct ProxyContext: Sendable {
    /// The authentication state of the proxies.
    var authenticator = ProxyAuthenticator()
    /// The TLS options for connections to proxies.
    var tls = TLSOptions()
    /// The maximum size of a response's head, in bytes.
    var maximumHead = 64 << 10
    /// The mechanism for the scheme Negotiate; nil for none.
    var mechanism: (any SecurityMechanism)?
}
