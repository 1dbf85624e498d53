import NIOCore
import NetworkClient
import NetworkClientCore
import PathProbing
import ReachabilityCore
import ValidationCore

/// Asks endpoints, with sockets that are bound to the path's interface, and reports what was observed.
///
/// Each HTTP request has a session of its own: nothing is kept from one to the next, not even a connection.
struct EndpointProber: Sendable {
    /// The time limit of a probe.
    private let timeout: Duration
    /// The time limit of each of its stages: shorter, so that a name server that is silent is told from an endpoint that is.
    private let stageTimeout: Duration
    private let tls: TLSOptions
    private let proxy: ProxyConfiguration
    private let loop: any EventLoop
    private let names = NameProber()
    /// The connectors of the endpoints without HTTP.
    private let connectors: [ValidationEndpoint: StreamConnector]

    /// Creates a prober.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` for pins that are none, or TLS options that contradict themselves.
    init(
        _ configuration: ValidationConfiguration,
        _ tls: TLSOptions,
        _ proxy: ProxyConfiguration,
        _ loop: any EventLoop
    ) throws(HTTPError) {
        guard tls.provesServers else { throw Self.unproven }
        timeout = configuration.timeout
        stageTimeout = timeout * 9 / 10
        self.tls = tls
        self.proxy = proxy
        self.loop = loop
        var connectors: [ValidationEndpoint: StreamConnector] = [:]
        for endpoint in configuration.endpoints { connectors[endpoint] = try Self.connector(for: endpoint, tls) }
        self.connectors = connectors
    }

    private static var unproven: HTTPError {
        .init(
            .invalidConfiguration,
            processing: .neverSent,
            reason: """
                the TLS options of probes accept servers without proof, so that an interception would count as validation: \
                trust a root of your own, or pin a key, instead
                """
        )
    }

    private static func connector(
        for endpoint: ValidationEndpoint,
        _ tls: TLSOptions
    ) throws(HTTPError) -> StreamConnector? {
        switch endpoint.probe {
        case .http, .dns: return nil
        case .tcp: return try StreamConnector(tls: nil)
        case .tls(_, _, let texts):
            var options = tls
            var pins: [Pin] = []
            for text in texts { pins.append(try Pin(text)) }
            if !pins.isEmpty { (options.policy, options.policiesByHost) = (.init(mode: .publicKey, pins: pins), [:]) }
            return try StreamConnector(tls: options)
        }
    }

    /// Asks an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint, one of the configuration's.
    ///   - path: The path, to whose interface the socket is bound.
    ///   - prefix: The prefix by which an IPv4 address is reached on a path that has IPv6 only; nil if none is known.
    /// - Returns: What was observed; cancelling the task ends the probe early.
    func probe(
        _ endpoint: ValidationEndpoint,
        through path: ValidationPath,
        translatedBy prefix: NAT64Prefix? = nil
    ) async -> ProbeOutcome {
        guard path.isIPv6Only, let own = endpoint.ipv4Address else {
            return await ask(endpoint, through: path, tls, connectors[endpoint])
        }
        // With a bound socket the kernel would look for the address on the link itself.
        guard let address = prefix?.address(for: own) else { return .failed(.unreachable) }
        do throws(HTTPError) {
            let translated = endpoint.located(at: address)
            let tls = tls.forTranslated(own)
            let connector = try Self.connector(for: translated, tls)
            return await ask(translated, through: path, tls, connector, host: endpoint.hostField)
        } catch {
            return .unusable(error.reason)
        }
    }

    /// Asks an endpoint at its address.
    ///
    /// With a `host`, HTTP requests are for that one, which is reached at another address.
    private func ask(
        _ endpoint: ValidationEndpoint,
        through path: ValidationPath,
        _ tls: TLSOptions,
        _ connector: StreamConnector?,
        host: String? = nil
    ) async -> ProbeOutcome {
        switch endpoint.probe {
        case .http(let url, _): await request(url, through: path, tls, host: host)
        case .tls(let host, let port, _): await connect(to: host, port, connector, isSecure: true, through: path)
        case .tcp(let host, let port): await connect(to: host, port, connector, isSecure: false, through: path)
        case .dns(let name, let server, _):
            await names.ask(for: name, server: server, through: path.interface, within: stageTimeout)
        }
    }

    /// Asks the name servers for the translators of the path (RFC 7050, 3).
    ///
    /// - Returns: Their prefixes; none if the name servers make no addresses; nil if they don't answer.
    func findTranslators(through path: ValidationPath) async -> [NAT64Prefix]? {
        let outcome = await names.ask(
            for: "ipv4only.arpa",
            .ipv6,
            server: nil,
            through: path.interface,
            within: stageTimeout
        )
        // NOERROR without addresses, or NXDOMAIN, is an answer; other codes say that the server could not find out.
        guard case .nameAnswer(let code, let addresses) = outcome, code == 0 || code == 3 else { return nil }
        return NAT64Prefix.prefixes(revealedBy: addresses)
    }

    /// Asks the API of a captive portal (RFC 8908, 4.1); returns nil if it does not reply as it should.
    func askPortal(_ url: String, through path: ValidationPath) async -> PortalReply? {
        do throws(HTTPError) {
            let session = try session(through: path, tls.ofPortals, .direct, accepting: PortalReply.mediaType)
            defer { session.invalidate(.cancellingRequests) }
            let response = try await session.get(url).response()
            let type = response["Content-Type"].first?.lowercased() ?? ""
            guard response.status == 200, type.hasPrefix(PortalReply.mediaType) else { return nil }
            return try? PortalReply(decoding: response.bytes)
        } catch {
            return nil
        }
    }

    // MARK: HTTP

    private func request(
        _ url: String,
        through path: ValidationPath,
        _ tls: TLSOptions,
        host: String?
    ) async -> ProbeOutcome {
        do throws(HTTPError) {
            let session = try session(through: path, tls, proxy, accepting: "*/*", host: host)
            defer { session.invalidate(.cancellingRequests) }
            let response = try await session.stream(.get, url).response()
            let location = response.head.headerFields[.location]
            let (body, isCutOff) = await Self.beginning(of: response.body)
            return .response(.init(status: response.status, location: location, body: body, isCutOff: isCutOff))
        } catch {
            return ObservedResponse(beforeFailure: error).map { .response($0) } ?? .init(error)
        }
    }

    /// Returns the first bytes of a body: as many as are compared, or as were received before it was cut off.
    private static func beginning(of body: ResponseBody) async -> (bytes: [UInt8], isCutOff: Bool) {
        var bytes: [UInt8] = []
        var pieces = body.makeAsyncIterator()
        do {
            while bytes.count < ObservedResponse.bodyLimit, let piece = try await pieces.next() {
                bytes += piece.readableBytesView.prefix(ObservedResponse.bodyLimit - bytes.count)
            }
            return (bytes, false)
        } catch {
            return (bytes, true)
        }
    }

    /// Makes a session that takes nothing from other requests, and leaves nothing to them.
    private func session(
        through path: ValidationPath,
        _ tls: TLSOptions,
        _ proxy: ProxyConfiguration,
        accepting type: String,
        host: String? = nil
    ) throws(HTTPError) -> HTTPSession {
        var headers: HTTPFields = [.accept: type, .cacheControl: "no-cache, no-store"]
        if let host, let name = HTTPField.Name("Host") { headers[name] = host }
        let configuration = HTTPConfiguration(
            headers: headers,
            timeouts: .init(
                resolve: stageTimeout,
                connect: stageTimeout,
                tls: stageTimeout,
                firstByte: stageTimeout,
                read: stageTimeout,
                write: stageTimeout,
                total: timeout
            ),
            tls: tls,
            http2: .off,
            maximumBodySize: JSONElement.maximumLength,
            binding: .interfaceIndex(path.interface),
            proxy: proxy,
            redirects: .refuse,
            cookies: .never
        )
        return try HTTPSession(configuration: configuration)
    }

    // MARK: Connections

    private func connect(
        to host: String,
        _ port: Int,
        _ connector: StreamConnector?,
        isSecure: Bool,
        through path: ValidationPath
    ) async -> ProbeOutcome {
        guard let connector else { return .unusable("the endpoint is not configured") }
        let target = StreamConnector.Target(host: host, port: port, binding: .interfaceIndex(path.interface))
        let attempt = connector.connect(to: target, timeout: stageTimeout, on: loop) { _ in }
        do {
            let channel = try await withTaskCancellationHandler {
                try await attempt.established.get()
            } onCancel: {
                attempt.cancel()
            }
            channel.close(promise: nil)
            return .connected(isAuthenticated: isSecure)
        } catch {
            return (error as? HTTPError).map { ProbeOutcome($0) } ?? .unusable("\(error)")
        }
    }
}

extension TLSOptions {
    /// The options for the API of a captive portal: the same roots, and no identity, which is for servers of the user.
    fileprivate var ofPortals: Self { .init(roots: roots, minimumVersion: minimumVersion) }
}

extension ObservedResponse {
    /// Takes the response whose body failed, such as a portal's redirect with a page that is too large; nil if there was none.
    fileprivate init?(beforeFailure error: HTTPError) {
        switch error.code {
        case .bodyTooLarge, .bodyTruncated, .connectionLost, .decompressionFailed, .readTimedOut, .requestTimedOut:
            break
        default: return nil
        }
        guard error.proxy == nil, let head = error.response else { return nil }
        let body = Array(error.body.prefix(Self.bodyLimit))
        self.init(status: head.status.code, location: head.headerFields[.location], body: body, isCutOff: true)
    }
}

extension ProbeOutcome {
    /// Makes an outcome of the failure of a request or connection.
    fileprivate init(_ error: HTTPError) {
        switch error.code {
        case .proxyAuthenticationRequired: self = .proxyLogin
        case .certificateUntrusted, .certificateHostMismatch, .pinMismatch, .challengeRefused:
            self = .certificateRefused(error.reason)
        case .certificateExpired, .certificateNotYetValid: self = .certificateOutdated(error.reason)
        default: self = Self.failure(of: error) ?? .unusable(error.reason)
        }
    }

    private static func failure(of error: HTTPError) -> Self? {
        switch error.code {
        case .nameNotFound: .failed(.unknownName)
        case .nameTemporarilyUnresolvable, .nameLookupFailed, .resolveTimedOut: .failed(.nameServer)
        case .connectionRefused: .failed(.refused)
        case .networkUnreachable, .hostUnreachable, .prohibited, .blackholed, .addressNotAvailable:
            .failed(.unreachable)
        case .connectTimedOut, .tlsTimedOut, .firstByteTimedOut, .readTimedOut, .writeTimedOut, .requestTimedOut:
            .failed(.timedOut)
        case .connectionLost, .bodyTruncated: .failed(.connectionCut)
        default: nil
        }
    }
}
