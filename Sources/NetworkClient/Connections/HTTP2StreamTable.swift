import NIOHTTP2

/// The streams of an HTTP/2 connection, by number and by exchange.
struct HTTP2StreamTable {
    /// The streams whose head was sent, by number, until they are closed and their exchange has ended.
    private var numbered: [HTTP2StreamID: HTTP2Stream] = [:]
    /// The streams with an exchange, by exchange.
    private var carriers: [ObjectIdentifier: HTTP2Stream] = [:]
    private var nextID: Int
    /// The number of exchanges whose head was not sent yet.
    private var unnumberedCount = 0
    /// The number of streams that were started.
    private(set) var startedCount = 0
    /// The number of streams that may be open at a time; 0 once the connection accepts no more.
    var limit = HTTP2ClientSettings.assumedStreamLimit

    init(firstStream: Int) { nextID = firstStream }

    /// The number of streams that count against the limit, including those whose head was not sent yet.
    var count: Int { numbered.count + unnumberedCount }

    /// Whether there is no stream.
    var isEmpty: Bool { count == 0 }

    /// The number of further streams that can be started now.
    var capacity: Int { max(0, limit - count) }

    /// Whether a number is left for another stream (RFC 9113, 5.1.1).
    var hasNumbers: Bool { nextID <= Int(Int32.max) }

    /// The stream with a number; nil if there is none.
    subscript(id: HTTP2StreamID) -> HTTP2Stream? { numbered[id] }

    /// The stream of an exchange; nil if it has none.
    subscript(exchange: any HTTPExchange) -> HTTP2Stream? { carriers[ObjectIdentifier(exchange)] }

    /// The streams with an exchange, in the order of their numbers.
    var carrying: [HTTP2Stream] { Self.ordered(carriers.values) }

    /// The streams whose head was not sent yet.
    var unnumbered: [HTTP2Stream] { carriers.values.filter { $0.id == nil } }

    /// Returns the streams that the server does not process after a GOAWAY frame, in the order of their numbers.
    func dropped(after last: HTTP2StreamID) -> [HTTP2Stream] {
        Self.ordered((Array(numbered.values) + unnumbered).filter { $0.isDropped(after: last) })
    }

    private static func ordered(_ streams: some Collection<HTTP2Stream>) -> [HTTP2Stream] {
        streams.sorted { $0.id ?? .maxID < $1.id ?? .maxID }
    }

    /// Starts a stream for an exchange; it has no number yet.
    mutating func start(_ exchange: any HTTPExchange, window: Int) {
        startedCount += 1
        unnumberedCount += 1
        carriers[ObjectIdentifier(exchange)] = HTTP2Stream(exchange, window: window)
    }

    /// Gives a stream the next number, as its head is sent.
    mutating func number(_ stream: HTTP2Stream) -> HTTP2StreamID {
        let id = HTTP2StreamID(nextID)
        nextID += 2
        stream.id = id
        numbered[id] = stream
        unnumberedCount -= 1
        return id
    }

    /// Passes a stream from its exchange to another one.
    mutating func pass(_ stream: HTTP2Stream, from exchange: any HTTPExchange, to next: any HTTPExchange) {
        carriers[ObjectIdentifier(exchange)] = nil
        carriers[ObjectIdentifier(next)] = stream
        stream.exchange = next
    }

    /// Separates an exchange from its stream.
    ///
    /// - Returns: The stream; nil if the exchange has none.
    mutating func detach(_ exchange: any HTTPExchange) -> HTTP2Stream? {
        guard let stream = carriers.removeValue(forKey: ObjectIdentifier(exchange)) else { return nil }
        stream.exchange = nil
        return stream
    }

    /// Removes a stream without an exchange, once it is closed.
    ///
    /// - Returns: Whether its place is available for another one.
    mutating func free(_ stream: HTTP2Stream) -> Bool {
        guard let id = stream.id else {
            unnumberedCount -= 1
            return true
        }
        return stream.isClosed && numbered.removeValue(forKey: id) != nil
    }
}
