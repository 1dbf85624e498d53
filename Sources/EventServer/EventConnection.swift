import EventCore
import EventPage
import NIOCore
import NetwatchCore
import ReachabilityCore

/// A client's connection: reads requests one after the other, and sends their responses.
final class EventConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Phase {
        /// A request's head is being read.
        case head
        /// A request waits for its turn, or for what it asked for.
        case waiting(EventRequest)
        /// The response of a request is being completed.
        case completing(EventRequest)
        /// Events are sent.
        case stream(EventRequest.Form, Feed)
        /// The last response was sent; what the client still sends is dropped.
        case draining
    }

    /// The origin of a stream's events.
    enum Feed {
        case log(EventCursor<EventHub.Record>)
        /// The stored events of a period.
        case history(HistoryFeed)
        /// The path to a host: the newest that was not sent yet.
        case path(ByteBuffer?)
    }

    let hub: EventHub
    private let access: EventServer.Access
    private(set) var peer = EventHub.Peer.loopback
    var context: ChannelHandlerContext?
    var phase = Phase.head { didSet { updateReading() } }
    private var received = RequestHeadBuffer()
    private var deadline: Scheduled<Void>?
    private var pathSubscription: (any EventSources.PathSubscription)?
    /// The place among the hub's followers; nil if it is none.
    var followerIndex: Int?
    /// The number of the request on this connection, by which late results of an earlier one are recognized.
    var requestNumber = 0
    private var keepsAlive = false
    /// Whether the response to the current request has no body (`HEAD`).
    private(set) var isHeadOnly = false
    private var allowedOrigin: String?
    private var isQuiet = true
    /// Whether the channel takes more.
    private(set) var isWritable = true
    /// Whether the channel is read from.
    private var isReading = true
    /// Whether requests are being read, so that a response which is sent immediately does not read the next one itself.
    private var isReadingRequests = false

    init(_ hub: EventHub, _ access: EventServer.Access) {
        self.hub = hub
        self.access = access
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        hub.add(self)
        if case .unix = access { peer = .user(PeerCredentials.user(of: context.channel)) }
        setDeadline(hub.limits.headTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        setDeadline(nil)
        pathSubscription = nil
        hub.remove(self, of: peer)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        // Nothing that follows is served: the stream ends with the connection.
        case .stream, .draining: return
        case .head, .waiting, .completing: break
        }
        received.append(unwrapInboundIn(data))
        readRequests()
        updateReading()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        updateReading()
        switch phase {
        case .stream: advance()
        case .head: readRequests()
        case .waiting, .completing, .draining: break
        }
        context.fireChannelWritabilityChanged()
    }

    /// Leaves in the kernel what a client sends that does not read its responses, or that sends many requests ahead.
    private func updateReading() {
        let reads =
            switch phase {
            case .head: isWritable
            case .waiting, .completing: isWritable && !received.isTooLong
            case .stream, .draining: true
            }
        guard reads != isReading else { return }
        isReading = reads
        try? context?.channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Closes the connection, as when the service stops.
    func end() { context?.close(promise: nil) }
}

// MARK: - Requests

extension EventConnection {
    /// Serves the requests that were received, as long as the client takes the responses.
    func readRequests() {
        guard !isReadingRequests else { return }
        isReadingRequests = true
        defer { isReadingRequests = false }
        while isWritable, case .head = phase, context != nil, let bytes = received.nextHead() {
            setDeadline(nil)
            serve(bytes)
        }
        guard isWritable, case .head = phase, context != nil, received.isTooLong else { return }
        let length = RequestHead.maximumLength
        refuse(.init(431, "the request's head is longer than \(length) bytes; send fewer and shorter fields"))
    }

    private func serve(_ bytes: [UInt8]) {
        requestNumber += 1
        allowedOrigin = nil
        do throws(RequestRefusal) {
            let head = try RequestHead(parsing: bytes)
            keepsAlive = head.keepsAlive
            isHeadOnly = head.method == "HEAD"
            if case .loopback(let rules) = access { allowedOrigin = try rules.check(head) }
            try serve(EventRequest(head))
        } catch {
            // After a malformed head nothing tells where the next one begins.
            if error.status == 400 { refuse(error) } else { respond(error.status, Self.body(of: error)) }
        }
    }

    private func serve(_ request: EventRequest) throws(RequestRefusal) {
        switch request.resource {
        case .metrics: return respondMetrics(request)
        case .history(let age) where request.form == .single || request.isHeadOnly:
            return try respondReport(request, since: age)
        case .state(let after, _) where after == nil || after != hub.log.newestID || request.isHeadOnly:
            return respondState(request)
        case .events where request.isHeadOnly:
            return respondHead(of: request.form)
        default: break
        }
        phase = .waiting(request)
        // A page is no subscriber; its script is.
        if case .page(let span) = request.resource { return beginPage(span) }
        switch hub.admit(self, of: peer) {
        case .admitted: begin()
        case .waits: break
        // Without a response, which clients of server-sent events would take as final; they connect again later.
        case .refused: context?.close(promise: nil)
        }
    }

    /// Begins to serve a subscriber, when it is its turn.
    func begin() {
        guard case .waiting(let request) = phase else { return }
        switch request.resource {
        case .state(_, let timeout):
            hub.follow(self)
            setDeadline(.nanoseconds(timeout.inNanoseconds))
            advance()
        case .events(let start, let mode):
            startStream(request.form, .log(.init(start, mode: mode, in: hub.log, hasJournal: hub.store != nil)))
        case .path(let host): beginPath(host, request)
        case .history(let age): beginHistory(since: age)
        case .metrics, .page: break
        }
        // A request that waited for its turn may have been responded to immediately.
        if case .head = phase { readRequests() }
    }

    /// Ends a request whose response was sent, and reads the next one.
    private func finishRequest() {
        hub.unfollow(self)
        hub.release(self, of: peer)
        pathSubscription = nil
        // An error that follows may be about bytes whose method is not known.
        isHeadOnly = false
        guard keepsAlive else { return drain() }
        phase = .head
        setDeadline(hub.limits.idleTimeout)
    }

    func setDeadline(_ time: TimeAmount?) {
        deadline?.cancel()
        deadline = time.map { time in
            // Cancelled when the connection ends. A weak reference would make each delivery count references twice.
            hub.loop.assumeIsolated().scheduleTask(in: time) { self.deadlineHasPassed() }
        }
    }

    private func deadlineHasPassed() {
        deadline = nil
        switch phase {
        // It would not read why.
        case .head where !isWritable: context?.close(promise: nil)
        case .head where requestNumber > 0 && received.isEmpty: context?.close(promise: nil)
        case .head: refuse(.init(408, "the request's head did not arrive in time; send it in one piece"))
        case .waiting(let request):
            switch request.resource {
            case .path: respond(504, Self.body(of: .init(504, "no name server replied in time; try again later")))
            case .page: respond(504, Self.body(of: .init(504, "the monitor does not respond; try again later")))
            case .state, .events, .history, .metrics: respondState(request)
            }
        case .draining: context?.close(promise: nil)
        case .stream, .completing: break
        }
        if case .head = phase { readRequests() }
    }
}

// MARK: - Paths to hosts

extension EventConnection {
    private func beginPath(_ host: String, _ request: EventRequest) {
        let number = requestNumber
        let bound = NIOLoopBound(self, eventLoop: hub.loop)
        setDeadline(hub.limits.pathTimeout)
        do throws(RequestRefusal) {
            pathSubscription = try hub.sources.path(host) { [loop = hub.loop] line in
                loop.execute { bound.value.take(path: line, number) }
            }
        } catch {
            return respond(error.status, Self.body(of: error))
        }
        guard request.form != .single else { return }
        guard !isHeadOnly else { return respondHead(of: request.form) }
        setDeadline(nil)
        startStream(request.form, .path(nil))
    }

    private func take(path line: [UInt8], _ number: Int) {
        guard number == requestNumber, context != nil else { return }
        switch phase {
        case .waiting:
            respond(200, line)
            readRequests()
        case .stream(let form, .path):
            phase = .stream(form, .path(EventHub.Record(line, id: nil).bytes(form)))
            advance()
        case .head, .stream, .completing, .draining: break
        }
    }
}

// MARK: - The page

extension EventConnection {
    private func beginPage(_ span: PageSpan) {
        let number = requestNumber
        let bound = NIOLoopBound(self, eventLoop: hub.loop)
        setDeadline(hub.limits.pathTimeout)
        hub.sources.network { [loop = hub.loop] network in
            loop.execute { bound.value.take(network, span, number) }
        }
    }

    private func take(_ network: PageNetwork, _ span: PageSpan, _ number: Int) {
        guard number == requestNumber, context != nil, case .waiting = phase else { return }
        let page = hub.page(span, network)
        respond(200, page.document, type: "text/html; charset=utf-8", fields: page.fields)
        readRequests()
    }
}

// MARK: - Streams

extension EventConnection {
    func startStream(_ form: EventRequest.Form, _ feed: Feed) {
        // The stream ends with the connection, so that all subscribers are sent the same bytes.
        keepsAlive = false
        write(head(200, type: Self.type(of: form)))
        context?.flush()
        phase = .stream(form, feed)
        hub.follow(self)
        advance()
    }

    /// Sends what is there to send, as long as the client takes it.
    func advance() {
        switch phase {
        case .waiting(let request):
            guard case .state(let after?, _) = request.resource, after != hub.log.newestID else { return }
            respondState(request)
            readRequests()
        case .stream(let form, .log(let cursor)): advance(form, cursor)
        case .stream(let form, .path(let bytes?)):
            guard isWritable else { return }
            phase = .stream(form, .path(nil))
            writeAndFlush(bytes)
        case .stream(_, .history(let feed)): advance(feed)
        case .head, .stream, .completing, .draining: break
        }
    }

    private func advance(_ form: EventRequest.Form, _ cursor: EventCursor<EventHub.Record>) {
        var cursor = cursor
        // Written together with the flush, in one pass through the pipeline.
        var last: ByteBuffer?
        while isWritable, let delivery = cursor.next(in: hub.log) {
            if let last { write(last) }
            switch delivery {
            case .event(_, let record, nil): last = record.bytes(form)
            case .event(_, let record, let gap?): last = hub.bytes(of: record, gap, form)
            case .state(let id, let gap): last = hub.bytes(ofStateAt: id, gap, form)
            case .page(let id):
                last = nil
                // Before the flush, within which the channel may become writable and the stream advance.
                phase = .stream(form, .log(cursor))
                context?.flush()
                readPage(after: id)
            }
        }
        phase = .stream(form, .log(cursor))
        if let last { writeAndFlush(last) }
    }

    private func readPage(after id: EventID) {
        let bound = NIOLoopBound(self, eventLoop: hub.loop)
        hub.store?.page(after: id, limit: hub.limits.pageLength) { [loop = hub.loop] page in
            loop.execute { bound.value.take(page) }
        }
    }

    /// A stream ends with its connection, so that the page is that of the present one.
    private func take(_ page: JournalPage<[UInt8]>) {
        guard context != nil, case .stream(let form, .log(var cursor)) = phase else { return }
        cursor.receive(page.map { EventHub.Record($1, id: $0) }, in: hub.log)
        phase = .stream(form, .log(cursor))
        advance()
    }

    /// Sends a comment to a stream of server-sent events that is quiet, so that a dead connection is noticed.
    func comment() {
        defer { isQuiet = true }
        guard isQuiet, case .stream(.serverSentEvents, _) = phase, isWritable else { return }
        writeAndFlush(ByteBuffer(bytes: EventText.comment))
    }
}

// MARK: - Responses

extension EventConnection {
    private func respondState(_ request: EventRequest) {
        guard let id = hub.log.newestID, let newest = hub.newest else {
            return respond(504, Self.body(of: .init(504, "the state is not known yet; try again in a second")))
        }
        var isKnown = request.knows(id)
        if case .state(let after?, _) = request.resource, after == id { isKnown = true }
        guard !isKnown else { return respond(304, [], tag: id) }
        guard newest.change.path.carriers.contains(where: { $0.kind == .wifi }) else {
            return respond(200, newest.detailedState, tag: id)
        }
        complete(request) { [sources = hub.sources] body in
            sources.details(newest) { line in body { $0.respond(200, line ?? newest.detailedState, tag: id) } }
        }
    }

    private func respondMetrics(_ request: EventRequest) {
        phase = .completing(request)
        hub.whenRestored { [weak self] in
            guard let self, context != nil else { return }
            let text = Array(hub.metricsText().utf8)
            respond(200, text, type: "text/plain; version=0.0.4; charset=utf-8")
            readRequests()
        }
    }

    /// Has a request wait until a job that runs elsewhere completes its response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - job: Starts the job; its closure takes, from any thread, what responds on the event loop.
    func complete(
        _ request: EventRequest,
        _ job: (_ body: @escaping @Sendable (@escaping @Sendable (EventConnection) -> Void) -> Void) -> Void
    ) {
        hub.unfollow(self)
        setDeadline(nil)
        phase = .completing(request)
        let (bound, number) = (NIOLoopBound(self, eventLoop: hub.loop), requestNumber)
        job { [loop = hub.loop] respond in
            loop.execute {
                let connection = bound.value
                guard connection.requestNumber == number, connection.context != nil else { return }
                respond(connection)
                connection.readRequests()
            }
        }
    }

    /// Sends a whole response, then reads the next request, or closes.
    func respond(
        _ status: Int,
        _ body: [UInt8],
        type: String = "application/json",
        tag: EventID? = nil,
        fields: String = ""
    ) {
        var bytes = head(status, type: type, length: status == 304 ? nil : body.count, tag: tag, fields: fields)
        if !isHeadOnly { bytes.writeBytes(body) }
        writeAndFlush(bytes)
        finishRequest()
    }

    /// Responds to `HEAD` for a stream, whose length is not known.
    func respondHead(of form: EventRequest.Form) {
        writeAndFlush(head(200, type: Self.type(of: form)))
        finishRequest()
    }

    /// Sends an error after which the connection cannot be used.
    private func refuse(_ refusal: RequestRefusal) {
        keepsAlive = false
        respond(refusal.status, Self.body(of: refusal))
    }

    /// Closes after the client has read the response: what it still sends would make the kernel discard that.
    private func drain() {
        setDeadline(hub.limits.drainTimeout)
        closeOutput(nil)
    }

    /// Closes like ``drain()``, but allows any time until the kernel has the whole response.
    ///
    /// For a response without a length, which would look complete if it was cut off. Until then, the connection counts
    /// as a subscriber, so that the number of those whose clients do not read is limited.
    func drainAfterWriting() {
        let promise = hub.loop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            hub.release(self, of: peer)
            if context != nil { setDeadline(hub.limits.drainTimeout) }
        }
        closeOutput(promise)
    }

    private func closeOutput(_ promise: EventLoopPromise<Void>?) {
        phase = .draining
        received = RequestHeadBuffer()
        context?.close(mode: .output, promise: promise)
    }

    private func head(
        _ status: Int,
        type: String,
        length: Int? = nil,
        tag: EventID? = nil,
        fields: String = ""
    ) -> ByteBuffer {
        var head = ResponseHead(status: status, type: type, length: length, tag: tag, fields: fields)
        if case .loopback = access { head.variesByOrigin = true }
        head.allowedOrigin = allowedOrigin
        head.keepsAlive = keepsAlive
        return ByteBuffer(string: head.text)
    }

    func write(_ bytes: ByteBuffer) {
        isQuiet = false
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    private func writeAndFlush(_ bytes: ByteBuffer) {
        isQuiet = false
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    }

    static func body(of refusal: RequestRefusal) -> [UInt8] {
        Array("{\"error\":\"\(refusal.message.escapedForJSONAndTerminal)\"}\n".utf8)
    }

    static func type(of form: EventRequest.Form) -> String {
        switch form {
        case .single: "application/json"
        case .serverSentEvents: "text/event-stream"
        case .lines: "application/x-ndjson"
        }
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    fileprivate var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
