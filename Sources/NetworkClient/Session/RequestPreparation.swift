import Glibc
import NIOCore
import NIOHTTP1

extension HTTPSession {
    /// Makes a request ready to be sent.
    func prepare(
        _ method: HTTPRequest.Method,
        _ reference: String,
        _ parameters: Parameters?,
        _ headers: HTTPFields,
        _ body: RequestBody,
        _ options: RequestOptions
    ) throws(HTTPError) -> PreparedRequest {
        let url = if let base { try base.resolving(reference) } else { try HTTPURL(reference) }
        var (content, parameters) = (try body.content.get(), parameters)
        if let given = parameters, let addingParts = content.addingParts {
            content = try formContent(given, addingParts)
            parameters = nil
        }
        let policy = try self.policy(of: options)
        let isPlain = parameters == nil && headers.isEmpty && content.isNone && isInTarget(method)
        if isPlain, !options.expectsContinue, options.idempotencyKey == nil, url.authority == readyHeaders.authority,
            !url.hasCredentials
        {
            let head = HTTPRequestHead(
                version: .http1_1,
                method: .init(method),
                uri: url.target,
                headers: readyHeaders.headers
            )
            return try finish(url, head, nil, nil, options, policy)
        }
        let request = try serialize(method, url, parameters, headers, content)
        var options = options
        if request.head.headerFields.expectsContinue { options.expectsContinue = true }
        try method.checkContent(hasBody: request.body?.isEmpty == false || content.makeSource != nil)
        let source: BodySource? = if let makeSource = content.makeSource { try makeSource() } else { nil }
        var head = wireHead(request, source, url, options)
        try addKey(to: &head, options, policy)
        return try finish(url, head, request.body.map { ByteBuffer(bytes: $0) }, source, options, policy)
    }

    /// Methods whose requests have no body where there are no parameters.
    private func isInTarget(_ method: HTTPRequest.Method) -> Bool { method == .get || method == .head }

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
                proxy: try policy.proxies?.proxy(for: url)
            ),
            head: head,
            body: body,
            source: source,
            limits: options.timeouts ?? configuration.timeouts,
            maximumBodySize: options.largestKeptBody(configuration.maximumBodySize),
            maximumStreamSize: options.maximumBodySize ?? .max,
            destination: options.destination,
            expectsContinue: options.expectsContinue,
            login: login(for: url, options, head.headers),
            policy: policy
        )
    }

    private func policy(of options: RequestOptions) throws(HTTPError) -> RequestPolicy {
        try policy.with(options, binding: options.binding ?? configuration.binding)
    }

    /// Makes a request idempotent by a key, if it is to be.
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
        _ content: RequestBody.Content
    ) throws(HTTPError) -> SerializedRequest {
        var fields = self.fields
        for name in Set(headers.map(\.name)) { fields[fields: name] = headers[fields: name] }
        guard fields[fields: .host].count <= 1 else {
            let reason = "the request has several Host fields, of which servers would each believe another: give one"
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        if headers[.range] != nil, headers[.acceptEncoding] == nil, configuration.headers[.acceptEncoding] == nil {
            fields[.acceptEncoding] = DefaultFields.codingOfParts
        }
        var head = HTTPRequest(
            method: method,
            scheme: url.isSecure ? "https" : "http",
            authority: url.authority,
            path: url.target,
            headerFields: fields
        )
        guard !content.isNone else { return try serialize(head, parameters) }
        guard parameters == nil else { return try serialize(inTarget: head, parameters, body: content) }
        if head.headerFields[.contentType] == nil { head.headerFields[.contentType] = content.contentType }
        return .init(head: head, body: content.bytes)
    }

    private func serialize(
        _ head: HTTPRequest,
        _ parameters: Parameters?
    ) throws(HTTPError) -> SerializedRequest {
        do {
            return try configuration.requestSerializer.serialize(head, parameters: parameters)
        } catch {
            throw .init(.requestSerializationFailed, processing: .neverSent, reason: "\(error)", cause: error)
        }
    }

    /// Returns the content of a multipart form with parameters as text parts before its own.
    private func formContent(
        _ parameters: Parameters,
        _ addingParts: RequestBody.Content.AddingParts
    ) throws(HTTPError) -> RequestBody.Content {
        do throws(RequestSerializationError) {
            return try addingParts(parameters.multipartParts(configuration.requestSerializer.options))
        } catch {
            throw .init(.requestSerializationFailed, processing: .neverSent, reason: "\(error)", cause: error)
        }
    }

    /// Where there is another body that is not a multipart form, parameters go into the query.
    private func serialize(
        inTarget head: HTTPRequest,
        _ parameters: Parameters?,
        body content: RequestBody.Content
    ) throws(HTTPError) -> SerializedRequest {
        var serializer = FormSerializer(options: configuration.requestSerializer.options)
        serializer.encoding = (configuration.requestSerializer as? FormSerializer)?.encoding
        serializer.placement.methodsInTarget = [head.method]
        do {
            var request = try serializer.serialize(head, parameters: parameters)
            if request.head.headerFields[.contentType] == nil {
                request.head.headerFields[.contentType] = content.contentType
            }
            request.body = content.bytes
            return request
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
        // Without a body there is nothing to wait with (RFC 9110, 10.1.1).
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
        } else if [.post, .put, .patch].contains(request.head.method) {
            // What is expected to have a body says that it has none (RFC 9110, 8.6).
            headers.add(name: "Content-Length", value: "0")
        }
        return .init(
            version: .http1_1,
            method: .init(request.head.method),
            uri: request.head.path ?? url.target,
            headers: headers
        )
    }
}

extension RequestOptions {
    /// How large a body may be that is held in memory: what was to go elsewhere, and does not, no larger than is usual.
    fileprivate func largestKeptBody(_ usual: Int) -> Int {
        let usual = min(usual, ByteBuffer.largest)
        guard let maximumBodySize else { return usual }
        if case .memory = destination { return min(maximumBodySize, ByteBuffer.largest) }
        return min(maximumBodySize, usual)
    }
}

extension HTTPFields {
    /// Whether they ask for the server's leave to send the body.
    fileprivate var expectsContinue: Bool { self[.expect]?.lowercased() == "100-continue" }
}

extension HTTPField.Name {
    /// What the client expects of the server (RFC 9110, 10.1.1).
    private static let expect = Self("Expect") ?? .userAgent
}

extension HTTPRequest.Method {
    /// Holds what can't have a body (RFC 9110, 9.3.8) against what would be sent: it would be read as another request.
    func checkContent(hasBody: Bool) throws(HTTPError) {
        guard self == .trace, hasBody else { return }
        let reason = "a TRACE can't have a body: leave it out, and parameters too, or ask by another method"
        throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
    }
}

extension HTTPMethod {
    init(_ method: HTTPRequest.Method) { self.init(rawValue: method.rawValue) }
}

/// A session's fields, ready for the wire.
struct PreparedHeaders: Sendable {
    let authority: String
    let headers: HTTPHeaders

    init(_ fields: HTTPFields, authority: String) {
        self.authority = authority
        headers = HTTPHeaders(fields, host: authority)
    }
}

extension HTTPHeaders {
    /// Fields in their order, after `Host`, which comes first (RFC 9110, 7.2), unless the fields have their own.
    init(_ fields: HTTPFields, host: String) {
        self.init()
        reserveCapacity(fields.count + 3)
        if fields[.host] == nil { add(name: "Host", value: host) }
        for field in fields { add(name: field.name.rawName, value: field.value) }
    }
}

extension HTTPField.Name {
    /// Which host is asked (RFC 9110, 7.2).
    static let host = Self("Host") ?? .userAgent
}

/// The fields of every request that neither it nor its session's configuration sets otherwise.
enum DefaultFields {
    /// The session's fields: what the configuration says, and where it is silent, who asks and what can be read.
    static func fields(for configuration: HTTPConfiguration) -> HTTPFields {
        var fields = configuration.headers
        setIfAbsent(.userAgent, "\(programName) netwatch (Linux)", in: &fields)
        if fields[.range] != nil {
            setIfAbsent(.acceptEncoding, codingOfParts, in: &fields)
        } else if configuration.decompresses {
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

    /// How parts are asked for: one of what is compressed could not be decompressed.
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
