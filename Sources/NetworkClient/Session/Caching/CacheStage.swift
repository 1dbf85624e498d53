import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Uses and stores responses of a session's cache: decides before a request waits for a path, and after each response.
///
/// Unchecked, because everything except constants is used on the session's event loop only.
final class CacheStage: @unchecked Sendable {
    private unowned let core: SessionCore
    private let cache: HTTPCache
    private let socketPath: String?
    private let willCache: WillCache?
    /// Whether the session accepts only certificates that prove the server.
    private let provesServers: Bool

    init(_ core: SessionCore, _ cache: HTTPCache) {
        (self.core, self.cache) = (core, cache)
        socketPath = core.configuration.unixSocketPath
        willCache = core.configuration.willCache
        provesServers = core.configuration.tls.provesServers
    }

    // MARK: Before a request waits

    /// Looks for a stored response, if the request may use one.
    ///
    /// - Returns: Whether the request continues here; if not, the caller sends it.
    func takes(_ handle: RequestHandle) -> Bool {
        handle.run.extras?.caching = nil
        guard !(handle is WebSocketRequest) else { return false }
        guard !handle.current.hasBody, mayCache(handle.current.endpoint) else { return failsWithoutCache(handle) }
        let request = CacheRequest(method: handle.current.head.method.rawValue, fields: fields(of: handle))
        guard request.mayUseStored else { return failsWithoutCache(handle) }
        let run = CachingRun(
            cacheURL(handle.current.url, handle),
            request,
            handle.current.cachePolicy.mode,
            epoch: cache.epoch
        )
        handle.extras.caching = run
        guard run.mode != .ignoring else { return false }
        handle.enter(.deciding(nil))
        cache.find(run.url, request.fields, on: core.loop) { [self] match in
            core.decided(handle) { self.found(match, handle, run) }
        }
        if handle.run.isDeciding { core.limit(handle) }
        return true
    }

    /// Returns whether responses of an endpoint are stored and used: not if its server is not proven, or not by the TLS options
    /// on which the other requests of the session rely.
    private func mayCache(_ endpoint: Endpoint) -> Bool {
        !endpoint.isSecure || (provesServers && endpoint.tls == nil)
    }

    /// Fails a request that may not use the network; returns false for others, which are sent without the cache.
    private func failsWithoutCache(_ handle: RequestHandle) -> Bool {
        guard handle.current.cachePolicy.mode == .storedOnly else { return false }
        failNotCached(handle)
        return true
    }

    /// Returns the URL under which a response is stored, with the virtual host that the program has named.
    private func cacheURL(_ url: HTTPURL, _ handle: RequestHandle) -> String {
        let text = url.cacheURL(socketPath: socketPath)
        guard let host = handle.current.head.headers.first(name: "Host"), host != handle.current.url.authority else {
            return text
        }
        return "\(text) Host: \(host)"
    }

    /// Returns the fields with which a request is sent, as far as they are known: with cookies, without credentials.
    private func fields(of handle: RequestHandle) -> CachedFields {
        var head = handle.current.head
        let (ranges, conditions) = (head.headers["Range"], head.headers["If-Range"])
        handle.run.extras?.receiver?.willSend(&head)
        // A download adds its own.
        if ranges.isEmpty { head.headers.remove(name: "Range") }
        if conditions.isEmpty { head.headers.remove(name: "If-Range") }
        core.stages.addCookies(to: &head, handle)
        return .init(head.headers)
    }

    private func found(_ match: CachedMatch?, _ handle: RequestHandle, _ run: CachingRun) {
        run.match = match
        switch ReuseRules.decision(for: run.request, match?.response, run.mode, now: cache.now()) {
        case .fresh: deliver(handle, run, .cache)
        case .stale(let permission):
            if permission == .whileRevalidating { validate(handle, run) }
            deliver(handle, run, .stale(.init(permission)))
        case .forward, .bypass: forward(handle, run)
        case .unavailable: endWithoutResponse(handle, run)
        }
    }

    /// Sends a request, unless there is no path and the stored response will do.
    private func forward(_ handle: RequestHandle, _ run: CachingRun) {
        guard run.mode != .storedOnly else { return endWithoutResponse(handle, run) }
        if mayReplaceFailure(handle), handle.current.policy.isGated, core.gate.hasNoPath(handle) {
            return deliver(handle, run, .stale(.noPath))
        }
        handle.enter(.queued)
        core.admit(handle, usesCache: false)
    }

    /// Ends a request that may not use the network (RFC 9111, 5.2.1.7).
    private func endWithoutResponse(_ handle: RequestHandle, _ run: CachingRun) {
        guard run.mode == .storedOnly else {
            let head = HTTPResponseHead(version: .http1_1, status: .gatewayTimeout, headers: ["Content-Length": "0"])
            return CachedDelivery(core, handle, .init(head: head, body: .bytes(.init()), range: nil, origin: nil))
                .start()
        }
        failNotCached(handle)
    }

    private func failNotCached(_ handle: RequestHandle) {
        let reason = "the cache has no response of \(handle.current.description), and its policy forbids to load it"
        core.end(handle, .failure(.init(.notCached, processing: .neverSent, reason: reason)))
    }

    /// Validates a response in the background, for requests to come.
    private func validate(_ handle: RequestHandle, _ run: CachingRun) {
        guard cache.beginRevalidation(run.url) else { return }
        var request = handle.current.copy
        request.destination = .receiver { [limit = cache.store.maximumEntrySize] handle in
            DiscardingReceiver(handle, limit: limit)
        }
        request.cachePolicy = .reloadRevalidating
        let background: DataRequest = core.handle(for: request)
        background.whenEnded { [cache, url = run.url] _ in cache.endRevalidation(url) }
        background.resume()
    }

    // MARK: In place of an error

    /// Returns whether a stored response may take the place of an error: not if it was invalidated after it was found.
    func mayReplaceFailure(_ handle: RequestHandle) -> Bool {
        guard let run = handle.run.extras?.caching, !run.isDelivering, let stored = run.match?.response,
            handle.run.extras?.receiver?.canStartAgain != false
        else { return false }
        return ReuseRules.mayReplaceFailure(stored, of: run.request, run.mode, now: cache.now())
            && !cache.mayBeInvalidated(run.url, since: run.lookupEpoch)
    }

    /// Delivers the stored response because there is no path, or because an attempt failed.
    func replaceFailure(_ handle: RequestHandle, _ reason: StaleReason) {
        guard let run = handle.run.extras?.caching else { return }
        deliver(handle, run, .stale(reason))
    }

    /// Delivers the stored response in place of an error, if it may.
    ///
    /// - Returns: Whether the request continues.
    func replaces(_ handle: RequestHandle, _ error: HTTPError) -> Bool {
        handle.run.extras?.caching?.writer = nil
        guard let reason = error.code.staleReason, mayReplaceFailure(handle) else { return false }
        replaceFailure(handle, reason)
        return true
    }

    // MARK: An attempt

    /// Adds the conditions that validate the stored response (RFC 9111, 4.3.1).
    func willSend(_ head: inout HTTPRequestHead, _ handle: RequestHandle) {
        recordTarget(head, handle)
        guard let run = handle.run.extras?.caching else { return }
        // An interceptor has changed what is requested: it would be stored under another URL.
        let request = handle.current.head
        guard head.uri == request.uri, head.headers["Host"] == request.headers["Host"] else {
            handle.run.extras?.caching = nil
            return
        }
        run.begin(.init(head.headers), now: cache.now(), epoch: cache.epoch)
        if let directive = handle.current.cachePolicy.directive, !head.headers.contains(name: "Cache-Control") {
            head.headers.add(name: "Cache-Control", value: directive)
        }
        guard let stored = run.match?.response, head.method == .GET, run.mode != .ignoring,
            !CacheRequest(method: "GET", fields: run.sent).isConditional
        else { return }
        for condition in ValidationRules.conditions(for: stored) {
            head.headers.add(name: condition.name, value: condition.value)
            run.isValidating = true
        }
    }

    /// Records the target of an attempt if an interceptor has changed it.
    private func recordTarget(_ head: HTTPRequestHead, _ handle: RequestHandle) {
        if head.uri != handle.current.head.uri {
            handle.extras.adaptedTarget = head.uri
        } else {
            handle.run.extras?.adaptedTarget = nil
        }
    }

    /// Decides from the head of a response whether the stored one takes its place, or it is stored.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - handle: The request.
    ///   - mayStore: Whether the response is the server's, so that it may change what is stored.
    /// - Returns: The decision.
    func received(_ head: HTTPResponseHead, _ handle: RequestHandle, mayStore: Bool) -> HeadDecision {
        guard mayStore else { return receivedApart(head, handle) }
        guard let run = handle.run.extras?.caching else {
            invalidate(head, handle)
            return .proceed
        }
        run.writer = nil
        let status = Int(head.status.code)
        let response = CachedResponse(head, requestTime: run.requestTime, responseTime: cache.now())
        if status == 304, let stored = run.match?.response {
            return receivedNotModified(response, stored, run)
        }
        if CacheStatus.isServerError(status), mayReplaceFailure(handle) {
            run.outcome = .failed(status)
            return .discard
        }
        if run.request.method == "HEAD" { receivedHead(response, run) } else { store(response, head, handle, run) }
        return .proceed
    }

    /// Leaves what is stored as it is, because the response may be a captive portal's.
    private func receivedApart(_ head: HTTPResponseHead, _ handle: RequestHandle) -> HeadDecision {
        guard let run = handle.run.extras?.caching else { return .proceed }
        run.writer = nil
        guard head.status == .notModified, run.isValidating, run.match != nil else { return .proceed }
        run.outcome = .validated
        return .discard
    }

    private func receivedNotModified(
        _ response: CachedResponse,
        _ stored: CachedResponse,
        _ run: CachingRun
    ) -> HeadDecision {
        guard ValidationRules.confirms(response, stored) else {
            // The server confirms another version: without conditions, it sends that one.
            guard run.isValidating else { return .proceed }
            cache.invalidate([run.url])
            run.outcome = .mismatched
            return .discard
        }
        guard run.isValidating || ValidationRules.identifies(response, stored) else { return .proceed }
        if let match = run.match {
            run.match = cache.update(match, ValidationRules.updated(stored, by: response), epoch: run.epoch)
        }
        if response.directives.noStore { cache.invalidate([run.url]) }
        guard run.isValidating else { return .proceed }
        run.outcome = .validated
        return .discard
    }

    /// Updates or removes the stored response to GET (RFC 9111, 4.3.5).
    private func receivedHead(_ response: CachedResponse, _ run: CachingRun) {
        guard let match = run.match, response.status < 500 else { return }
        guard ValidationRules.confirms(head: response, match.response) else { return cache.invalidate([run.url]) }
        run.match = cache.update(match, ValidationRules.updated(match.response, by: response), epoch: run.epoch)
    }

    /// Begins to store a response, if that is permitted.
    private func store(_ response: CachedResponse, _ head: HTTPResponseHead, _ handle: RequestHandle, _ run: CachingRun)
    {
        let sent = CacheRequest(method: run.request.method, fields: run.sent)
        var response = response
        guard StoringRules.refusal(of: response, to: sent) == nil, !head.hasTransferCompression,
            run.isMatchedLater(response), change(&response, handle)
        else {
            if run.match != nil, response.status < 400 { cache.invalidate([run.url]) }
            return
        }
        response.fields = response.fields.storable
        run.response = response
        run.writer = CacheWriter(cache, epoch: run.epoch)
    }

    /// Lets the user's closure decide; returns whether the response is stored.
    private func change(_ response: inout CachedResponse, _ handle: RequestHandle) -> Bool {
        guard let willCache else { return true }
        guard let head = willCache(handle.current.copy.publicHead, .init(.init(response))) else { return false }
        response.fields = .init(head.headerFields.map { CachedField($0.name.rawName, $0.value) })
        return true
    }

    /// Removes the stored responses that a request with an unsafe method makes invalid (RFC 9111, 4.4).
    ///
    /// If an interceptor changed its target, also those of the URL that the program named: it may only have added a signature.
    private func invalidate(_ head: HTTPResponseHead, _ handle: RequestHandle) {
        let request = CacheRequest(method: handle.current.head.method.rawValue, fields: .init())
        guard request.isUnsafe, (200...399).contains(head.status.code) else { return }
        let url = handle.run.extras?.adaptedTarget.map { handle.current.url.with(target: $0) } ?? handle.current.url
        var urls = [url, handle.current.url]
        for name in ["Location", "Content-Location"] {
            for reference in head.headers[name] {
                if let other = try? url.resolving(reference), other.origin == url.origin { urls.append(other) }
            }
        }
        cache.invalidate(Set(urls.map { cacheURL($0, handle) }))
    }

    /// Returns the closure that receives the body of a response that is stored; nil for another.
    func bodyTap(_ handle: RequestHandle) -> BodyTap? {
        guard let writer = handle.run.extras?.caching?.writer else { return nil }
        return { writer.append($0) }
    }

    /// Decides what follows a complete response: the stored one if that takes its place.
    func completed(_ handle: RequestHandle) -> ResponseDecision {
        guard let run = handle.run.extras?.caching else { return .proceed }
        let outcome = run.outcome
        run.outcome = .stored
        switch outcome {
        case .stored:
            if let response = run.response { run.writer?.commit(response, to: run.url, run.sent) }
            run.writer = nil
            return .proceed
        case .validated: return deliverLater(handle, run, .validated)
        case .failed(let status): return deliverLater(handle, run, .stale(.serverFailed(status: status)))
        case .mismatched:
            run.match = nil
            return .resend(withoutStored(handle.current.copy))
        }
    }

    /// Returns a request that does not find what was stored: it is still there if the folder can't be written.
    private func withoutStored(_ request: PreparedRequest) -> PreparedRequest {
        var request = request
        let isValidating = request.cachePolicy == .reloadRevalidating
        request.cachePolicy = isValidating ? .reloadIgnoringAllCaches : .reloadIgnoringLocalCache
        return request
    }

    private func deliverLater(_ handle: RequestHandle, _ run: CachingRun, _ source: ResponseSource) -> ResponseDecision
    {
        core.loop.execute { [self] in core.decided(handle) { self.deliver(handle, run, source) } }
        return .deferred
    }

    // MARK: Delivering

    /// Delivers the stored response, after a check of its body if that is in a file.
    private func deliver(_ handle: RequestHandle, _ run: CachingRun, _ source: ResponseSource) {
        guard let match = run.match else { return forward(handle, run) }
        run.isDelivering = true
        guard case .file(let path) = match.entry.body else { return start(handle, run, match, source) }
        handle.enter(.deciding(nil))
        core.limit(handle)
        let record = match.entry.record
        CacheFileReader.checked(path, record, on: core.loop) { [self] reader in
            core.decided(handle) {
                guard let reader else { return self.reject(match, handle, run) }
                run.reader = reader
                self.start(handle, run, match, source)
            }
        }
    }

    /// Requests a response whose stored body is damaged.
    private func reject(_ match: CachedMatch, _ handle: RequestHandle, _ run: CachingRun) {
        cache.discard(match)
        (run.match, run.isDelivering) = (nil, false)
        forward(handle, run)
    }

    private func start(_ handle: RequestHandle, _ run: CachingRun, _ match: CachedMatch, _ source: ResponseSource) {
        let stored = match.response
        let age = stored.age(at: cache.now())
        let content: CachedContent.Body = run.reader.map { .file($0) } ?? match.entry.body.content
        let length = match.entry.record.bodyLength
        let origin = CacheOrigin(source: source, age: age, isEstimated: stored.lifetime.isHeuristic)
        let range = CachedRange(of: run.request, stored, length: length)
        guard range != .unsatisfied || run.mode == .storedOnly else {
            (run.match, run.isDelivering) = (nil, false)
            return forward(handle, run)
        }
        run.origin = origin
        var delivered = CachedContent(head: .init(stored), body: content, range: nil, origin: origin)
        delivered.head.headers.replaceOrAdd(name: "Age", value: "\(age)")
        if run.hasOwnCondition, ValidationRules.isNotModified(stored, for: run.request) {
            delivered.become304(of: stored)
        } else if case .part(let bytes) = range {
            delivered.become206(bytes, of: length)
        }
        CachedDelivery(core, handle, delivered).start()
    }
}

extension CachedBody {
    /// The body, if it is in memory; empty for a file, which has a reader.
    fileprivate var content: CachedContent.Body {
        if case .bytes(let bytes) = self { .bytes(bytes) } else { .bytes(.init()) }
    }
}

extension StaleReason {
    fileprivate init(_ permission: StalePermission) {
        self =
            switch permission {
            case .request: .accepted
            case .policy: .policy
            case .whileRevalidating: .revalidating
            }
    }
}

extension CachePolicy {
    /// The directive of the request for caches on the path; nil for none.
    fileprivate var directive: String? {
        switch self {
        case .reloadIgnoringAllCaches: "no-cache"
        case .reloadRevalidating: "max-age=0"
        default: nil
        }
    }
}

extension HTTPError.Code {
    /// The reason why a stale response may take the place of the error; nil for errors that are not of the network.
    ///
    /// A server that can't prove its identity is not unreachable.
    fileprivate var staleReason: StaleReason? {
        switch self {
        case .connectivityTimedOut, .pathNotAllowed, .pathLost, .pathNotValidated, .networkUnreachable: .noPath
        case .nameNotFound, .nameTemporarilyUnresolvable, .nameLookupFailed, .resolveTimedOut, .connectionRefused,
            .hostUnreachable, .prohibited, .blackholed, .addressNotAvailable, .connectFailed, .connectTimedOut,
            .proxyConnectFailed, .tlsTimedOut, .connectionLost, .bodyTruncated, .firstByteTimedOut, .readTimedOut,
            .writeTimedOut, .circuitOpen:
            .unreachable
        default: nil
        }
    }
}

extension HTTPResponseHead {
    /// Whether the body is compressed for this connection only, so that its bytes can't be stored as they are.
    fileprivate var hasTransferCompression: Bool {
        headers[canonicalForm: "Transfer-Encoding"].contains { $0.lowercased() != "chunked" }
    }

    /// Creates the head of a stored response.
    init(_ stored: CachedResponse) {
        var headers = HTTPHeaders()
        for field in stored.fields.all { headers.add(name: field.name, value: field.value) }
        let status = HTTPResponseStatus(statusCode: stored.status, reasonPhrase: stored.reason)
        self.init(version: .http1_1, status: status, headers: headers)
    }
}

extension CachedResponse {
    /// Creates the response of a head.
    fileprivate init(_ head: HTTPResponseHead, requestTime: Int64, responseTime: Int64) {
        self.init(
            status: Int(head.status.code),
            reason: head.status.reasonPhrase,
            fields: .init(head.headers),
            requestTime: requestTime,
            responseTime: responseTime
        )
    }
}

extension CachedFields {
    init(_ headers: HTTPHeaders) { self.init(headers.map { CachedField($0.name, $0.value) }) }
}
