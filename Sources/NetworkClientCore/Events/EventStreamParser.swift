/// Parses an event stream from its bytes, however they are split (HTML Living Standard, 9.2.5 and 9.2.6).
///
/// Pass each piece of input to ``next(_:)`` until it returns no event. The bytes are UTF-8; invalid sequences are replaced
/// by U+FFFD. An event without the empty line that ends it is never returned.
package struct EventStreamParser: Sendable {
    /// The maximum of ``retryTime``: a day.
    package static let maximumRetryTime = Duration.milliseconds(maximumRetryMilliseconds)
    private static let maximumRetryMilliseconds = 86_400_000

    /// The last ID that the server has set, which a reconnection sends; empty if there is none.
    ///
    /// The ID of an incomplete event does not count.
    package private(set) var lastEventID: String
    /// The time after which the server wants clients to reconnect; nil if it has not set one.
    package private(set) var retryTime: Duration?

    private let maximumSize: Int
    /// The beginning of an incomplete line.
    private var line: [UInt8] = []
    /// Whether the current line is the first one, which may begin with a byte order mark.
    private var isFirstLine = true
    /// Whether the last line ended with a carriage return, so that a line feed belongs to the same line end.
    private var mayLineFeedFollow = false
    /// The data of the incomplete event, with a line feed after each line.
    private var data: [UInt8] = []
    /// The type's name of the incomplete event; empty if it has none.
    private var name = ""
    /// The ID that the next complete event has.
    private var id: String
    private var isOver = false

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The ID of the event after which the stream continues; empty if it starts from the beginning.
    ///   - maximumSize: The maximum size of a line, and of the data of an event, in bytes.
    package init(lastEventID: String = "", maximumSize: Int) {
        self.lastEventID = lastEventID
        self.maximumSize = maximumSize
        id = lastEventID
    }

    /// Starts another stream, of a new connection: drops what is incomplete.
    ///
    /// The last ID and the retry time stay, so that events without an ID of their own have the last one, as in browsers.
    package mutating func startStream() {
        line = []
        isFirstLine = true
        mayLineFeedFollow = false
        data = []
        name = ""
        id = lastEventID
        isOver = false
    }

    /// Parses more input.
    ///
    /// - Parameter bytes: The input that has not been consumed; may be empty.
    /// - Returns: The number of consumed bytes and the event. Without an event, all bytes were consumed and more are
    ///   needed.
    /// - Throws: ``EventStreamFault``. After that, nothing else can be parsed in the stream.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer
    ) throws(EventStreamFault) -> (consumed: Int, event: ServerSentEvent?) {
        guard !isOver else { return (bytes.count, nil) }
        do throws(EventStreamFault) {
            return try read(bytes)
        } catch {
            isOver = true
            throw error
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(EventStreamFault) -> (Int, ServerSentEvent?) {
        var position = 0
        while position < bytes.count {
            if mayLineFeedFollow {
                mayLineFeedFollow = false
                if bytes[position] == .lineFeed {
                    position += 1
                    continue
                }
            }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            let end = rest.firstIndex { $0 == .lineFeed || $0 == .carriageReturn }
            let count = end ?? rest.count
            guard line.count + count <= maximumSize else { throw .lineTooLong(maximumSize) }
            guard let end else {
                line += rest
                return (bytes.count, nil)
            }
            position += end + 1
            mayLineFeedFollow = rest[end] == .carriageReturn
            if let event = try take(UnsafeRawBufferPointer(rebasing: rest[..<end])) { return (position, event) }
        }
        return (position, nil)
    }

    // MARK: Lines

    /// Processes a line, whose beginning may have arrived earlier.
    private mutating func take(_ end: UnsafeRawBufferPointer) throws(EventStreamFault) -> ServerSentEvent? {
        guard !line.isEmpty else { return try takeLine(end) }
        var whole: [UInt8] = []
        swap(&whole, &line)
        whole += end
        let event = whole.withUnsafeBytes { bytes in Result { () throws(EventStreamFault) in try takeLine(bytes) } }
        return try event.get()
    }

    private mutating func takeLine(_ bytes: UnsafeRawBufferPointer) throws(EventStreamFault) -> ServerSentEvent? {
        var line = bytes[...]
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        if line.isEmpty { return dispatch() }
        let field = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line[field.endIndex...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        try take(field, value)
        return nil
    }

    /// Processes a field; a comment is one without a name, and is ignored like unknown ones.
    private mutating func take(
        _ field: Slice<UnsafeRawBufferPointer>,
        _ value: Slice<UnsafeRawBufferPointer>
    ) throws(EventStreamFault) {
        if field.elementsEqual("data".utf8) {
            guard data.count + value.count <= maximumSize else { throw .eventTooLarge(maximumSize) }
            data += value
            data.append(.lineFeed)
        } else if field.elementsEqual("event".utf8) {
            name = String(decoding: value, as: UTF8.self)
        } else if field.elementsEqual("id".utf8) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if field.elementsEqual("retry".utf8) {
            takeRetryTime(value)
        }
    }

    private mutating func takeRetryTime(_ value: Slice<UnsafeRawBufferPointer>) {
        guard !value.isEmpty, value.allSatisfy({ $0.isASCIIDigit }) else { return }
        let milliseconds = value.reduce(0) { number, digit in
            min(number * 10 + Int(digit - UInt8(ascii: "0")), Self.maximumRetryMilliseconds)
        }
        retryTime = .milliseconds(milliseconds)
    }

    /// Ends an event: returns it, unless it has no data.
    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer {
            data.removeAll(keepingCapacity: data.capacity <= Self.keptCapacity)
            name = ""
        }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            id: lastEventID,
            name: name.isEmpty ? "message" : name,
            data: String(decoding: data.dropLast(), as: UTF8.self)
        )
    }

    /// The maximum size in bytes of a buffer that is kept for the next event.
    private static let keptCapacity = 65_536
}

/// The reason why bytes are not an acceptable event stream.
package enum EventStreamFault: Error, Sendable, Hashable {
    /// A line is longer than this limit in bytes.
    case lineTooLong(Int)
    /// The data of an event is larger than this limit in bytes.
    case eventTooLarge(Int)
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}
