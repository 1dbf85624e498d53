import EventCore
import NIOCore

/// A client's position in the stored events of a period.
struct HistoryFeed {
    /// The event after which the next page begins.
    var last: EventID
    /// The lines that were read and not sent, in order.
    var lines: [ByteBuffer] = []
    /// Whether a page is being read.
    var isReading = false
}

extension EventConnection {
    /// Responds with the availability in a period.
    func respondReport(_ request: EventRequest, since age: Duration) throws(RequestRefusal) {
        guard let store = hub.store else { throw Self.noJournal }
        let now = hub.sources.now()
        complete(request) { body in
            store.report(since: age, at: now) { line in body { $0.respondReport(request, line) } }
        }
    }

    private func respondReport(_ request: EventRequest, _ line: [UInt8]?) {
        guard !(isHeadOnly && request.form == .lines) else { return respondHead(of: .lines) }
        if let line { return respond(200, line) }
        respond(503, Self.body(of: Self.unreadable))
    }

    private static let noJournal = RequestRefusal(
        404,
        "this service keeps no journal; start it with 'netwatch serve --journal DIR'"
    )
    private static let unreadable = RequestRefusal(503, "the journal cannot be read; see the service's log")

    /// Begins to send the stored events of a period.
    func beginHistory(since age: Duration) {
        guard let store = hub.store else { return respond(404, Self.body(of: Self.noJournal)) }
        let (bound, number) = (NIOLoopBound(self, eventLoop: hub.loop), requestNumber)
        store.start(since: age, at: hub.sources.now()) { [loop = hub.loop] id in
            loop.execute { bound.value.start(after: id, number) }
        }
    }

    private func start(after id: EventID?, _ number: Int) {
        guard number == requestNumber, context != nil, case .waiting = phase else { return }
        // An empty journal has no lines: the response ends after its head.
        let last = id ?? .init(run: 0, sequence: 0)
        let bound = NIOLoopBound(self, eventLoop: hub.loop)
        hub.store?.page(after: last, limit: hub.limits.pageLength) { [loop = hub.loop] page in
            loop.execute { bound.value.start(with: page, after: last, number) }
        }
    }

    /// Begins the response with the first page, which tells a journal that can't be read from an empty one.
    private func start(with page: JournalPage<[UInt8]>, after id: EventID, _ number: Int) {
        guard number == requestNumber, context != nil, case .waiting = phase else { return }
        guard page.isReadable else {
            respond(503, Self.body(of: Self.unreadable))
            return readRequests()
        }
        startStream(.lines, .history(.init(last: id, isReading: true)))
        take(history: page)
    }

    /// Sends lines as long as the client takes them, and reads more.
    func advance(_ feed: HistoryFeed) {
        var feed = feed
        var sent = 0
        while sent < feed.lines.count, isWritable {
            write(feed.lines[sent])
            sent += 1
        }
        feed.lines.removeFirst(sent)
        let reads = feed.lines.isEmpty && !feed.isReading
        if reads { feed.isReading = true }
        phase = .stream(.lines, .history(feed))
        // Last: the channel may become writable within the flush, at which the rest of the feed is sent.
        if sent > 0 { context?.flush() }
        if reads { readHistory(after: feed.last) }
    }

    private func readHistory(after id: EventID) {
        let bound = NIOLoopBound(self, eventLoop: hub.loop)
        hub.store?.page(after: id, limit: hub.limits.pageLength) { [loop = hub.loop] page in
            loop.execute { bound.value.take(history: page) }
        }
    }

    private func take(history page: JournalPage<[UInt8]>) {
        guard context != nil, case .stream(_, .history(var feed)) = phase else { return }
        guard let last = page.entries.last else { return endHistory() }
        feed.last = last.id
        feed.lines = page.entries.map { ByteBuffer(bytes: $0.event) }
        feed.isReading = false
        advance(feed)
    }

    /// The stream ends with the connection.
    private func endHistory() {
        hub.unfollow(self)
        drainAfterWriting()
    }
}
