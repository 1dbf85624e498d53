import NIOCore
import NetworkClientCore
import ReachabilityCore

/// How a connection gets past its proxy: what the proxy is told on each connection to it, and what follows on a refusal.
struct ProxyNegotiation {
    let proxy: ProxyServer
    private let endpoint: Endpoint
    private let authenticator: ProxyAuthenticator
    private let maximumHead: Int
    /// The origin's addresses that are still to be tried, where they are looked up here.
    private var addresses: [IPAddress] = []
    /// What the proxy was shown of the user last.
    private var proof: ProxyProof?
    private var challenges = 0

    init(_ proxy: ProxyServer, to endpoint: Endpoint, _ authenticator: ProxyAuthenticator, maximumHead: Int) {
        self.proxy = proxy
        self.endpoint = endpoint
        self.authenticator = authenticator
        self.maximumHead = maximumHead
    }

    /// Whether the origin's name has to be looked up here first.
    var needsAddresses: Bool {
        proxy.scheme == .socks5 && !HostName.isNumeric(endpoint.host) && addresses.isEmpty
    }

    /// The origin's addresses are known.
    mutating func take(_ addresses: [SocketAddress]) { self.addresses = addresses.compactMap { IPAddress($0) } }

    /// What is said on a new connection to the proxy; nil where requests are handed to it as soon as TCP stands.
    mutating func dialogue() -> ProxyDialogue? {
        guard proxy.scheme.isSOCKS else {
            guard endpoint.isSecure else { return proxy.scheme == .https ? .nothing : nil }
            proof = authenticator.proof(for: proxy, method: "CONNECT", target: endpoint.authority)
            let fields = proof.map { [ProxyResponse.Field("Proxy-Authorization", $0.value)] } ?? []
            return .connect(.init(to: endpoint.authority, fields: fields, maximumHead: maximumHead))
        }
        let port = UInt16(clamping: endpoint.port)
        return .socks(.init(to: destination, port: port, login: proxy.login))
    }

    private var destination: SOCKS5Dialogue.Destination {
        if let address = addresses.first { return .address(address) }
        return IPAddress(HostText.withoutZone(endpoint.host)).map { .address($0) } ?? .name(endpoint.nameForTLS)
    }

    /// The proxy refused.
    ///
    /// - Returns: Whether another connection to it may end better.
    mutating func mayGoAgain(after refusal: ProxyRefusal) -> Bool {
        switch refusal {
        case .response(let answer) where answer.status == 407:
            challenges += 1
            guard challenges <= ProxyAuthenticator.maximumChallenges else { return false }
            return authenticator.learn(answer.values(of: "Proxy-Authenticate"), from: proxy, after: proof)
        case .reply(let code) where SOCKSReply.isOfTheAddress(code) && addresses.count > 1:
            addresses.removeFirst()
            return true
        default: return false
        }
    }
}

extension Endpoint {
    /// Host and port for a proxy: IPv6 in brackets and without its zone, which means something on this machine alone.
    var authority: String { HostText.hostAndPort(nameForTLS, port) }

    /// Where TCP leads: to the proxy, where there is one.
    var nextHop: Endpoint {
        guard let proxy else { return self }
        return .init(isSecure: false, host: proxy.host, port: proxy.port, binding: binding, requirement: requirement)
    }

    /// Whether requests are handed to the proxy, which reads them, instead of through it.
    var isForwarded: Bool {
        guard let proxy else { return false }
        return !isSecure && !proxy.scheme.isSOCKS
    }
}

/// What is said to a proxy before the connection leads to the origin.
enum ProxyDialogue: Sendable {
    /// Nothing: the proxy is handed requests, as soon as TLS with it stands.
    case nothing
    case connect(ConnectDialogue)
    case socks(SOCKS5Dialogue)

    /// What is said first.
    var opening: [UInt8] {
        switch self {
        case .nothing: []
        case .connect(let dialogue): dialogue.request
        case .socks(let dialogue): dialogue.greeting
        }
    }

    /// Takes in what came.
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

    /// What is known of a refusal when nothing more will come.
    func end() -> ProxyRefusal? {
        guard case .connect(let dialogue) = self else { return nil }
        return dialogue.end()
    }
}

/// What a session has for its proxies.
struct ProxyContext: Sendable {
    /// Who the user is to them.
    var authenticator = ProxyAuthenticator()
    /// Whom to trust that says it is one.
    var tls = TLSOptions()
    /// How large the head of an answer may be, in bytes.
    var maximumHead = 64 << 10
}
