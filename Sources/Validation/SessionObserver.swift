import NetworkClient
import ReachabilityCore

/// An observer of a session, which reports to the engine what requests were answered over https, and which failed.
struct SessionObserver: EventMonitor {
    private let engine: WeakEngine
    /// Whether the session accepts only certificates that prove the server.
    private let provesServers: Bool

    /// A reference that does not keep a released validator's engine.
    private final class WeakEngine: @unchecked Sendable {
        // A weak reference is safe on any thread; it is set only here.
        private(set) weak var value: ValidatorEngine?

        init(_ value: ValidatorEngine) { self.value = value }
    }

    /// Creates an observer of a session with these options.
    init(_ engine: ValidatorEngine, _ tls: TLSOptions) {
        self.engine = .init(engine)
        provesServers = tls.provesServers
    }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .finished(.success(let response)): succeeded(request, response)
        case .finished(.failure(let error)), .retrying(_, _, let error): failed(error)
        case .serialized(let error?) where error.code.isForeignContent: failed(error)
        default: break
        }
    }

    /// A response of the cache proves nothing, nor does one with an error status.
    private func succeeded(_ request: RequestHandle, _ response: DataResponse) {
        let metrics = response.metrics
        guard (200..<300).contains(response.status), case .network = response.source, let local = metrics.localAddress
        else {
            return
        }
        let isAuthenticated = metrics.tlsVersion != nil && isSecureThroughout(request, response)
        engine.value?.requestEnded(isAuthenticated: isAuthenticated, from: Self.address(in: local))
    }

    /// Whether the server that was asked has answered: a portal may redirect plain HTTP to its own page, with its own
    /// certificate.
    private func isSecureThroughout(_ request: RequestHandle, _ response: DataResponse) -> Bool {
        provesServers && !request.hasOwnTLSOptions && request.head.scheme == "https"
            && response.redirects.allSatisfy { $0.from.hasPrefix("https:") }
    }

    private func failed(_ error: HTTPError) {
        guard error.code.mayBeThePath || error.code.isForeignContent else { return }
        let local = error.metrics?.localAddress
        engine.value?.requestEnded(isAuthenticated: nil, from: local.flatMap(Self.address))
    }

    /// Returns the address of `192.0.2.2:51034` or `[2001:db8::1]:51034`.
    private static func address(in text: String) -> IPAddress? {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let host = text[..<colon]
        return IPAddress(String(host.hasPrefix("[") ? host.dropFirst().dropLast() : host))
    }
}

extension HTTPError.Code {
    /// Whether the path may be the cause, and not only the server.
    fileprivate var mayBeThePath: Bool {
        switch self {
        case .nameNotFound, .nameTemporarilyUnresolvable, .nameLookupFailed, .resolveTimedOut, .connectionRefused,
            .networkUnreachable, .hostUnreachable, .prohibited, .blackholed, .connectFailed, .connectTimedOut,
            .proxyAuthenticationRequired, .proxyConnectFailed, .invalidProxyAnswer, .tlsFailed, .tlsTimedOut,
            .certificateUntrusted, .certificateHostMismatch, .pinMismatch, .connectionLost, .firstByteTimedOut,
            .readTimedOut, .writeTimedOut, .requestTimedOut, .bodyTruncated, .invalidResponse:
            true
        default: false
        }
    }

    /// Whether another may have answered in the server's place, as a portal does.
    fileprivate var isForeignContent: Bool {
        switch self {
        case .unacceptableContentType, .responseSerializationFailed, .redirectRefused: true
        default: false
        }
    }
}
