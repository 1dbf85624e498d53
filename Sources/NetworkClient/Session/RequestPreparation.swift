import Glibc
import Locking
import NIOCore
import NIOHTTP1

/// Prepares the requests of a session: their URLs, fields, bodies and settings, which do not change afterwards.
///
/// It can be used from any thread.
final class RequestPreparation: Sendable {
    /// The header fields of every request.
    let headers: SessionHeaders
    private let configuration: HTTPConfiguration
    private let base: HTTPURL?
    /// The last reference and its URL: programs often request the same one again.
    private let lastURL = Lock<(reference: String, url: HTTPURL)?>(nil)
    private let netrc: NetrcCredentials?
    /// The policy of requests whose options don't change it.
    private let policy: RequestPolicy
    /// The TLS clients for the options of single requests.
    private let requestTLS = RequestTLSCache()
    /// Whether the serializer leaves GET and HEAD requests unchanged that have neither parameters nor a body.
    private let keepsPlainRequests: Bool

    init(
        _ configuration: HTTPConfiguration,
        base: HTTPURL?,
        netrc: NetrcCredentials?
    ) throws(HTTPError) {
        self.configuration = configuration
        self.base = base
        self.netrc = netrc
        policy = try RequestPolicy(configuration).with(.init(), binding: configuration.binding)
        try policy.check(configuration.validation)
        headers = .init(configuration, authority: base?.authority ?? "")
        let placing = configuration.requestSerializer as? any PlacingSerializer
        keepsPlainRequests = placing?.placement.methodsInTarget.isSuperset(of: [.get, .head]) ?? false
    }

    /// Prepares a request for sending.
    func prepare(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ parameters: Parameters?,
        _ headers: HTTPFields,
        _ body: RequestBody,
        _ options: RequestOptions
    ) throws(HTTPError) -> PreparedRequest {
        var url = try self.url(of: reference)
        var (content, parameters) = (try body.content.get(), parameters)
        if let given = parameters, let addingParts = content.addingParts {
            content = try formContent(given, addingParts, options)
            parameters = nil
        }
        let policy = try self.policy(of: options)
        let isPlain = parameters == nil && headers.isEmpty && content.isNone && skipsSerializer(method, options)
        let defaults = self.headers.current
        if isPlain, !options.expectsContinue, options.idempotencyKey == nil, !defaults.haveProxyCredentials,
            url.authority == defaults.prepared.authority, !url.hasCredentials
        {
            let head = HTTPRequestHead(
                version: .http1_1,
                method: .init(method),
                uri: url.target,
                headers: defaults.prepared.headers
            )
            return try finish(url, head, nil, nil, options, policy)
        }
        let request = try serialize(method, url, parameters, headers, content, options, defaults)
        url = url.with(target: request.head.path ?? url.target)
        var options = options
        if request.head.headerFields.expectsContinue { options.expectsContinue = true }
        try request.head.method.checkContent(hasBody: request.body?.isEmpty == false || content.makeSource != nil)
        let source: BodySource? = if let makeSource = content.makeSource { try makeSource() } else { nil }
        var head = wireHead(request, source, url, options)
        try addKey(to: &head, options, policy)
        var prepared = try finish(url, head, request.body.map { ByteBuffer(bytes: $0) }, source, options, policy)
        // A user's transport makes its own connections.
        if configuration.transport == nil, !prepared.endpoint.isForwarded { prepared.head.removeProxyCredentials() }
        return prepared
    }

    private func url(of reference: String) throws(HTTPError) -> HTTPURL {
        // By their bytes: strings are equal that differ in the composition of characters, and whose URLs differ.
        if let last = lastURL.withLock({ $0 }), last.reference.utf8.elementsEqual(reference.utf8) { return last.url }
        let url = if let base { try base.resolving(reference) } else { try HTTPURL(reference) }
        lastURL.withLock { $0 = (reference, url) }
        return url
    }

    /// Returns whether the serializer leaves requests with a method unchanged that have neither parameters nor a body.
    private func skipsSerializer(_ method: HTTPRequest.Method, _ options: RequestOptions) -> Bool {
        keepsPlainRequests && options.requestSerializer == nil && (method == .get || method == .head)
    }

    private func finish(
        _ url: HTTPURL,
        _ head: HTTPRequestHead,
        _ body: ByteBuffer?,
        _ source: BodySource?,
        _ options: RequestOptions,
        _ policy: RequestPolicy
    ) throws(HTTPError) -> PreparedRequest {
        .init(
            url: url,
            endpoint: .init(
                isSecure: url.isSecure,
                host: url.host,
                port: url.port,
                socketPath: configuration.unixSocketPath,
                binding: options.binding ?? configuration.binding,
                requirement: policy.requirement,
                proxy: try policy.proxies?.proxy(for: url),
                needsTunnel: options.destination.isWebSocket,
                tls: try requestTLS.tls(of: options, for: url),
                serviceType: options.serviceType ?? configuration.serviceType,
                http2: options.destination.isWebSocket ? .off : configuration.http2
            ),
            head: head,
            body: body,
            source: source,
            limits: options.timeouts ?? configuration.timeouts,
            maximumBodySize: options.largestKeptBody(configuration.maximumBodySize),
            maximumStreamSize: options.maximumBodySize ?? .max,
            destination: options.bodyDestination,
            expectsContinue: options.expectsContinue,
            login: login(for: url, options, head.headers),
            policy: policy,
            cachePolicy: options.cachePolicy ?? configuration.cachePolicy,
            marks: .of(options),
            isUpload: options.isUpload
        )
    }

    /// Returns the credentials of a request: from its options, the URL's user information, or the session's policy.
    ///
    /// Nil if the request sets `Authorization` itself: it then does not respond to challenges.
    private func login(for url: HTTPURL, _ options: RequestOptions, _ headers: HTTPHeaders) -> RequestCredentials? {
        let mayAppear = options.credential != nil || url.hasCredentials || !configuration.authentication.isEmpty
        guard mayAppear, options.authenticates, !headers.contains(name: "Authorization") else { return nil }
        let isPreemptive = options.isPreemptive
        if let credential = options.credential {
            return .init(credential, for: url.origin, isPreemptive: isPreemptive)
        }
        if let user = url.user {
            let password = url.password ?? netrc?.password(of: user, at: url.origin) ?? ""
            let credential = Credential(user: user, password: password)
            return .init(credential, for: url.origin, isPreemptive: isPreemptive)
        }
        // The request that obtains a token must not wait for it.
        if !configuration.authentication.tokens.isEmpty, BearerTokens.isRefreshing { return nil }
        return .shared
    }

    private func policy(of options: RequestOptions) throws(HTTPError) -> RequestPolicy {
        let policy = try policy.with(options, binding: options.binding ?? configuration.binding)
        try policy.check(configuration.validation)
        return policy
    }

    /// Adds an idempotency key, if the options or the policy say so.
    private func addKey(
        to head: inout HTTPRequestHead,
        _ options: RequestOptions,
        _ policy: RequestPolicy
    ) throws(HTTPError) {
        guard !head.headers.contains(name: "Idempotency-Key") else { return }
        if let key = options.idempotencyKey {
            head.headers.add(name: "Idempotency-Key", value: try key.checkedText())
        } else if policy.addsKeys, !head.method.isIdempotent {
            head.headers.add(name: "Idempotency-Key", value: IdempotencyKey.random.text)
        }
    }

    private func serialize(
        _ method: HTTPRequest.Method,
        _ url: HTTPURL,
        _ parameters: Parameters?,
        _ headers: HTTPFields,
        _ content: RequestBody.Content,
        _ options: RequestOptions,
        _ defaults: SessionHeaders.Fields
    ) throws(HTTPError) -> SerializedRequest {
        var fields = defaults.all
        for name in Set(headers.map(\.name)) { fields[fields: name] = headers[fields: name] }
        guard fields[fields: .host].count <= 1 else {
            let reason = "the request has several Host fields, which servers would interpret differently: set only one"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        if headers[.range] != nil, headers[.acceptEncoding] == nil, defaults.own[.acceptEncoding] == nil {
            fields[.acceptEncoding] = DefaultFields.codingOfParts
        }
        var head = HTTPRequest(
            method: method,
            scheme: url.isSecure ? "https" : "http",
            authority: url.authority,
            path: url.target,
            headerFields: fields
        )
        if head.headerFields[.contentType] == nil { head.headerFields[.contentType] = content.contentType }
        let streams = content.makeSource != nil
        return try serialize(.init(head: head, body: content.bytes, hasStreamedBody: streams), parameters, options)
    }

    private func serialize(
        _ request: SerializedRequest,
        _ parameters: Parameters?,
        _ options: RequestOptions
    ) throws(HTTPError) -> SerializedRequest {
        do {
            let result = try serializer(options).serialize(request, parameters: parameters)
            try request.check(result)
            return result
        } catch {
            throw .init(.requestSerializationFailed, processing: .neverSent, reason: "\(error)", cause: error)
        }
    }

    private func serializer(_ options: RequestOptions) -> any RequestSerializer {
        options.requestSerializer ?? configuration.requestSerializer
    }

    /// Returns the content of a multipart form with parameters as text parts before its own.
    private func formContent(
        _ parameters: Parameters,
        _ addingParts: RequestBody.Content.AddingParts,
        _ options: RequestOptions
    ) throws(HTTPError) -> RequestBody.Content {
        do throws(RequestSerializationError) {
            return try addingParts(parameters.multipartParts(serializer(options).options))
        } catch {
            throw .init(.requestSerializationFailed, processing: .neverSent, reason: "\(error)", cause: error)
        }
    }

    private func wireHead(
        _ request: SerializedRequest,
        _ source: BodySource?,
        _ url: HTTPURL,
        _ options: RequestOptions
    ) -> HTTPRequestHead {
        var headers = HTTPHeaders(request.head.headerFields, host: url.authority)
        headers.remove(name: "Transfer-Encoding")
        headers.remove(name: "Content-Length")
        // Must not be sent without a body (RFC 9110, 10.1.1).
        if request.head.headerFields.expectsContinue { headers.remove(name: "Expect") }
        if let body = request.body {
            headers.add(name: "Content-Length", value: String(body.count))
            if options.expectsContinue, !body.isEmpty { headers.add(name: "Expect", value: "100-continue") }
        } else if let source {
            if let length = source.length {
                headers.add(name: "Content-Length", value: String(length))
            } else {
                headers.add(name: "Transfer-Encoding", value: "chunked")
            }
            if options.expectsContinue { headers.add(name: "Expect", value: "100-continue") }
        } else {
            headers.stateAbsenceOfBody(.init(request.head.method))
        }
        return .init(
            version: .http1_1,
            method: .init(request.head.method),
            uri: request.head.path ?? url.target,
            headers: headers
        )
    }
}

extension SerializedRequest {
    /// Checks the result of a serializer for this request.
    fileprivate func check(_ result: Self) throws(RequestSerializationError) {
        if hasStreamedBody, result.body != nil {
            throw .init("the serializer made a body for a request that has a streamed one")
        }
        // Anything else could end the request line, and begin another request.
        let target = result.head.path ?? "/"
        guard target.hasPrefix("/"), target.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw .init(
                "the target that the serializer wrote is no path and query: begin it with a slash, percent-encode the rest"
            )
        }
    }
}

extension RequestOptions {
    /// Returns the maximum size of a body in memory, in bytes.
    ///
    /// A body for a file or stream that is kept in memory instead, because of its status, is limited to the session's
    /// maximum.
    fileprivate func largestKeptBody(_ sessionMaximum: Int) -> Int {
        let sessionMaximum = min(sessionMaximum, ByteBuffer.largest)
        guard let maximumBodySize else { return sessionMaximum }
        if case .memory = destination { return min(maximumBodySize, ByteBuffer.largest) }
        return min(maximumBodySize, sessionMaximum)
    }
}

extension HTTPFields {
    /// Whether they contain `Expect: 100-continue`.
    fileprivate var expectsContinue: Bool { self[.expect]?.lowercased() == "100-continue" }
}

extension HTTPField.Name {
    /// The `Expect` field (RFC 9110, 10.1.1).
    private static let expect = Self("Expect") ?? .userAgent
}

extension HTTPRequest.Method {
    /// Checks that a TRACE request has no body (RFC 9110, 9.3.8): a server could parse it as another request.
    ///
    /// - Throws: `invalidConfiguration` if it has one.
    func checkContent(hasBody: Bool) throws(HTTPError) {
        guard self == .trace, hasBody else { return }
        let reason = "a TRACE can't have a body: leave it and the parameters out, or use another method"
        throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
    }
}

extension HTTPMethod {
    init(_ method: HTTPRequest.Method) { self.init(rawValue: method.rawValue) }
}

/// The encoded fields of a session.
struct PreparedHeaders: Sendable {
    let authority: String
    let headers: HTTPHeaders

    init(_ fields: HTTPFields, authority: String) {
        self.authority = authority
        headers = HTTPHeaders(fields, host: authority)
    }
}

extension HTTPHeaders {
    /// Creates headers from fields, in order, after `Host` (RFC 9110, 7.2), which is added unless the fields contain
    /// it.
    init(_ fields: HTTPFields, host: String) {
        self.init()
        reserveCapacity(fields.count + 3)
        if fields[.host] == nil { add(name: "Host", value: host) }
        for field in fields where field.name != .cookie { add(name: field.name.rawName, value: field.value) }
        // The type of the fields divides cookies; a request has one such field (RFC 6265bis, 5.8.1).
        if let cookies = fields[.cookie] { add(name: "Cookie", value: cookies) }
    }
}

extension HTTPField.Name {
    /// The `Host` field (RFC 9110, 7.2).
    static let host = Self("Host") ?? .userAgent
}

/// The default values of header fields.
enum DefaultFields {
    /// Returns a session's fields, with defaults for `User-Agent`, `Accept-Encoding` and `Accept-Language`.
    static func fields(_ own: HTTPFields, decompresses: Bool) -> HTTPFields {
        var fields = own
        setIfAbsent(.userAgent, "\(programName) netwatch (Linux)", in: &fields)
        if fields[.range] != nil {
            setIfAbsent(.acceptEncoding, codingOfParts, in: &fields)
        } else if decompresses {
            setIfAbsent(.acceptEncoding, "gzip, deflate", in: &fields)
        }
        let names = ["LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"]
        let environment = Dictionary(
            uniqueKeysWithValues: names.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        )
        if let languages = AcceptLanguage.value(in: environment) {
            setIfAbsent(.acceptLanguage, languages, in: &fields)
        }
        return fields
    }

    /// The `Accept-Encoding` of requests for ranges: a part of a compressed body can't be decompressed.
    static let codingOfParts = "identity"

    private static func setIfAbsent(_ name: HTTPField.Name, _ value: String, in fields: inout HTTPFields) {
        if fields[name] == nil { fields[name] = value }
    }

    /// The program's name as a product token (RFC 9110, 10.1.5).
    private static var programName: String {
        let name = CommandLine.arguments.first?.split(separator: "/").last ?? ""
        let token = name.utf8.filter { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        return token.isEmpty ? "program" : String(decoding: token, as: UTF8.self)
    }
}

extension RequestTLSCache {
    /// Returns the TLS client of a request with TLS options of its own; nil for that of the session.
    fileprivate func tls(of options: RequestOptions, for url: HTTPURL) throws(HTTPError) -> RequestTLS? {
        guard let own = options.tls else { return nil }
        try own.policy.check(scheme: url.scheme, of: "the URL")
        return try tls(for: own)
    }
}
