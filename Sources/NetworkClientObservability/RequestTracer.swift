import Locking
public import NetworkClient
public import Tracing

/// Traces the requests of a session with swift-distributed-tracing: a span for each attempt, whose context is sent to
/// the server.
///
/// ```swift
/// var configuration = HTTPConfiguration()
/// configuration.trace(with: RequestTracer())
/// ```
/// The parent of a span is the context of the task that made the request. The tracer writes its fields, such as
/// `traceparent` (W3C Trace Context), into each attempt. Spans are named by the method and have the attributes of
/// OpenTelemetry's semantic conventions for HTTP clients; URLs are without user information and query.
public final class RequestTracer: EventMonitor, RequestInterceptor {
    /// The state of an unfinished request.
    private struct Running {
        let parent: InstrumentationContext
        var span: (any Span)?
        /// The status of the response that the current attempt has received.
        var status: Int?
    }

    private let tracer: (any Tracer)?
    private let running = Lock<[ObjectIdentifier: Running]>([:])

    /// Creates a tracer.
    ///
    /// - Parameter tracer: The backend; nil for the one of `InstrumentationSystem`, which has to be bootstrapped before
    ///   the first request.
    public init(_ tracer: (any Tracer)? = nil) { self.tracer = tracer }

    private var backend: any Tracer { tracer ?? InstrumentationSystem.tracer }
    private var instrument: any Instrument { tracer ?? InstrumentationSystem.instrument }

    /// Records the context of the task that makes a request.
    public func requestWasMade(_ request: RequestHandle) {
        let parent = InstrumentationContext.current ?? .topLevel
        running.withLock { $0[ObjectIdentifier(request)] = .init(parent: parent) }
    }

    /// Starts the span of an attempt, and adds the tracer's fields to its request.
    public func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        var request = request
        let span = start(request, attempt)
        let context = span?.context ?? InstrumentationContext.current ?? .topLevel
        instrument.inject(context, into: &request.headerFields, using: FieldInjector())
        return request
    }

    /// Starts a span; nil if the request has finished meanwhile.
    private func start(_ request: HTTPRequest, _ attempt: RequestAttempt) -> (any Span)? {
        let key = ObjectIdentifier(attempt.request)
        guard let parent = running.withLock({ $0[key]?.parent }) else { return nil }
        let description = RequestDescription(request)
        let span = backend.startSpan(description.method, context: parent, ofKind: .client)
        span.attributes["http.request.method"] = description.method
        span.attributes["url.full"] = description.url
        span.attributes["server.address"] = description.host
        if let port = description.port { span.attributes["server.port"] = port }
        if attempt.number > 1 { span.attributes["http.request.resend_count"] = attempt.number - 1 }
        let (isKept, old) = running.withLock { running in
            guard running[key] != nil else { return (false, nil as (any Span)?) }
            let old = running[key]?.span
            running[key]?.span = span
            running[key]?.status = nil
            return (true, old)
        }
        old?.end()
        if !isKept { span.end() }
        return isKept ? span : nil
    }

    /// Adds what happened to the span of the current attempt, and ends it with the attempt.
    public func request(_ request: RequestHandle, did event: RequestEvent) {
        switch event {
        case .attempt(_, _, let connection):
            guard let address = connection.remoteAddress else { return }
            span(of: request)?.attributes["network.peer.address"] = address
        case .head(let head): received(head.status.code, request)
        case .retrying(_, _, let error), .sentAgain(let error), .pathLost(let error): end(request, error)
        case .redirected, .authenticating: end(request, nil)
        case .finished(let result): finish(request, result)
        default: break
        }
    }

    private func span(of request: RequestHandle) -> (any Span)? {
        running.withLock { $0[ObjectIdentifier(request)]?.span }
    }

    private func received(_ status: Int, _ request: RequestHandle) {
        span(of: request)?.attributes["http.response.status_code"] = status
        running.withLock { $0[ObjectIdentifier(request)]?.status = status }
    }

    private func finish(_ request: RequestHandle, _ result: Result<DataResponse, HTTPError>) {
        switch result {
        case .success: end(request, nil)
        case .failure(let error): end(request, error)
        }
        _ = running.withLock { $0.removeValue(forKey: ObjectIdentifier(request)) }
    }

    /// Ends the span of the current attempt.
    private func end(_ request: RequestHandle, _ error: HTTPError?) {
        let key = ObjectIdentifier(request)
        let (span, status) = running.withLock { running in
            defer { running[key]?.span = nil }
            return (running[key]?.span, running[key]?.status)
        }
        guard let span else { return }
        if let status, status >= 400 {
            span.attributes["error.type"] = "\(status)"
            span.setStatus(.init(code: .error))
        } else if let error {
            span.attributes["error.type"] = "\(error.code)"
            span.recordError(error)
            span.setStatus(.init(code: .error, message: error.reason))
        }
        span.end()
    }
}

/// Writes the fields of a tracer into a request.
private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
        guard let name = HTTPField.Name(key) else { return }
        fields[name] = value
    }
}

extension HTTPConfiguration {
    /// Adds a tracer to the monitors and the interceptors.
    ///
    /// - Parameter tracer: The tracer. Interceptors that are added before see the request without its fields.
    public mutating func trace(with tracer: RequestTracer) {
        eventMonitors.append(tracer)
        interceptors.append(tracer)
    }
}
