/// Parses the responses on an HTTP/1.1 connection from its bytes, however they are split (RFC 9112).
///
/// The parser finds the beginning and the end of a body without copying it. Pass each piece of input to ``next(_:)``
/// until it returns no event.
package struct ResponseParser: Sendable {
    /// The maximum size of the line before a chunk in bytes, including extensions.
    static let maximumChunkLine = 16_384
    /// The maximum number of hexadecimal digits in a chunk's size.
    private static let maximumSizeDigits = 16

    private enum Phase: Hashable {
        /// No response is expected.
        case idle
        case statusLine
        case fields
        case fixedBody(remaining: Int)
        case bodyUntilClose
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
        /// Another protocol follows, or the input was not HTTP.
        case over
    }

    /// An element of the input.
    package enum Event: Sendable {
        /// The head of an interim or of the final response.
        case head(ResponseHead)
        /// A piece of the body: the last bytes that were consumed, by number.
        case body(Int)
        /// The end of the final response.
        case end
    }

    private let maximumHeadSize: Int
    private var phase = Phase.idle
    private var method = ResponseMethod.other
    private var head = ResponseHead()
    /// The beginning of an incomplete line.
    private var line: [UInt8] = []
    /// The number of bytes in the response's heads so far, including status lines, empty lines and interim responses.
    private var headSize = 0
    private var trailerSize = 0

    /// Creates a parser.
    ///
    /// - Parameter maximumHeadSize: The maximum size of the heads of a response in bytes, including interim ones. The
    ///   same maximum applies to its trailers.
    package init(maximumHeadSize: Int) { self.maximumHeadSize = maximumHeadSize }

    /// Whether a byte of the expected response has arrived.
    package var hasBegun: Bool { headSize > 0 }

    /// Starts to expect the response to a request.
    ///
    /// - Parameter method: The request's method: the response to HEAD has no body; one to CONNECT has a body only if it
    ///   refuses.
    package mutating func expectResponse(to method: String) {
        guard phase == .idle else { return }
        phase = .statusLine
        self.method = .init(method)
        headSize = 0
        trailerSize = 0
    }

    /// Parses more input.
    ///
    /// - Parameter bytes: The input that has not been consumed; may be empty.
    /// - Returns: The number of consumed bytes and the event. Without an event, all bytes were consumed and more are
    ///   needed.
    /// - Throws: ``ResponseFault``. After that, nothing else can be parsed on the connection.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer
    ) throws(ResponseFault) -> (consumed: Int, event: Event?) {
        do throws(ResponseFault) {
            return try read(bytes)
        } catch {
            phase = .over
            throw error
        }
    }

    /// Processes the end of the connection.
    ///
    /// - Returns: The end of the response if its body ends with the connection; nil if no response is expected.
    /// - Throws: ``ResponseFault/truncated`` if the response is incomplete.
    package mutating func finish() throws(ResponseFault) -> Event? {
        defer { phase = .over }
        switch phase {
        case .idle, .over: return nil
        case .statusLine where !hasBegun: return nil
        case .bodyUntilClose, .fixedBody(0): return .end
        default: throw .truncated
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(ResponseFault) -> (Int, Event?) {
        var position = 0
        while true {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            switch phase {
            case .over: return (bytes.count, nil)
            case .idle:
                guard rest.allSatisfy({ $0.isLineEnd }) else { throw .unsolicited }
                return (bytes.count, nil)
            case .fixedBody(0): return (position, end())
            case .fixedBody(let remaining):
                let count = min(remaining, rest.count)
                phase = .fixedBody(remaining: remaining - count)
                return (position + count, count > 0 ? .body(count) : nil)
            case .bodyUntilClose: return (bytes.count, rest.isEmpty ? nil : .body(rest.count))
            case .chunk(let remaining):
                let count = min(remaining, rest.count)
                phase = count == remaining ? .chunkEnd : .chunk(remaining: remaining - count)
                return (position + count, count > 0 ? .body(count) : nil)
            case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers:
                guard let (count, event) = try readLine(rest) else { return (bytes.count, nil) }
                position += count
                if let event { return (position, event) }
            }
        }
    }

    private mutating func end() -> Event {
        phase = .idle
        return .end
    }

    // MARK: Lines

    /// Reads a line; nil if it is incomplete, and the whole input was stored for it.
    private mutating func readLine(
        _ bytes: UnsafeRawBufferPointer
    ) throws(ResponseFault) -> (count: Int, event: Event?)? {
        let lineFeed = bytes.firstIndex(of: .lineFeed)
        let count = lineFeed.map { $0 + 1 } ?? bytes.count
        if phase == .statusLine, lineFeed == nil || headSize + count > maximumHeadSize {
            try checkStatusLineStart(before: bytes[..<(lineFeed ?? count)])
        }
        try countBytes(count)
        guard lineFeed != nil else {
            line += bytes
            return nil
        }
        guard !line.isEmpty else { return (count, try take(UnsafeRawBufferPointer(rebasing: bytes[..<count]))) }
        line += bytes[..<count]
        var whole: [UInt8] = []
        swap(&whole, &line)
        let event = whole.withUnsafeBytes { bytes in Result { () throws(ResponseFault) in try take(bytes) } }
        return (count, try event.get())
    }

    /// Enforces the limits on heads, trailers and the lines between chunks.
    private mutating func countBytes(_ count: Int) throws(ResponseFault) {
        switch phase {
        case .statusLine, .fields:
            headSize += count
            guard headSize <= maximumHeadSize else { throw .headTooLarge(maximumHeadSize) }
        case .trailers:
            trailerSize += count
            guard trailerSize <= maximumHeadSize else { throw .headTooLarge(maximumHeadSize) }
        default:
            guard line.count + count <= Self.maximumChunkLine else {
                throw .malformed("the line before a chunk is longer than \(Self.maximumChunkLine) bytes")
            }
        }
    }

    /// Rejects another protocol early, since it may send no line end at all, or exceed all limits.
    private func checkStatusLineStart(before more: Slice<UnsafeRawBufferPointer>) throws(ResponseFault) {
        let expected = "HTTP/1.".utf8
        var start = line.drop { $0 == .carriageReturn }.prefix(expected.count)
        start += (start.isEmpty ? more.drop { $0 == .carriageReturn } : more).prefix(expected.count)
        guard zip(start, expected).allSatisfy({ $0 == $1 }) else {
            throw .malformed("it does not start with HTTP/1.1")
        }
    }

    /// Parses a line including its line feed.
    private mutating func take(_ line: UnsafeRawBufferPointer) throws(ResponseFault) -> Event? {
        var content = line.dropLast()
        let endsWithCRLF = content.last == .carriageReturn
        if endsWithCRLF { content = content.dropLast() }
        let bytes = UnsafeRawBufferPointer(rebasing: content)
        switch phase {
        case .statusLine: try takeStatusLine(bytes)
        case .fields:
            guard bytes.isEmpty else {
                try head.takeFieldLine(bytes)
                return nil
            }
            return try headEnded()
        case .chunkSize, .chunkEnd:
            // A bare line feed may end only lines of a head. Here, parsers that differ would see different chunks.
            guard endsWithCRLF else { throw .malformed("a chunk's line ends without CR LF") }
            if phase == .chunkSize { try takeChunkSize(bytes) } else { try takeChunkEnd(bytes) }
        case .trailers:
            guard bytes.isEmpty else {
                try head.takeFieldLine(bytes)
                return nil
            }
            return end()
        default: break
        }
        return nil
    }

    // MARK: The head

    private mutating func takeStatusLine(_ line: UnsafeRawBufferPointer) throws(ResponseFault) {
        // Empty lines before a status line are ignored (RFC 9112, 2.2).
        guard !line.isEmpty else { return }
        head = try ResponseHead(statusLine: line)
        phase = .fields
    }

    private mutating func headEnded() throws(ResponseFault) -> Event {
        var finished = ResponseHead()
        swap(&finished, &head)
        let framing = try BodyFraming(finished, method)
        switch finished.status {
        case 101: phase = .over
        case 100..<200: phase = .statusLine
        default:
            phase =
                switch framing {
                case .none: .fixedBody(remaining: 0)
                case .length(let count): .fixedBody(remaining: count)
                case .chunked: .chunkSize
                case .untilClose: .bodyUntilClose
                }
        }
        return .head(finished)
    }

    // MARK: Chunks

    private mutating func takeChunkSize(_ line: UnsafeRawBufferPointer) throws(ResponseFault) {
        let digits = line.prefix { $0.isHexadecimal }
        guard 1...Self.maximumSizeDigits ~= digits.count,
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .malformed("a chunk has no valid size") }
        let rest = line[digits.endIndex...].drop { $0.isBlank }
        guard rest.isEmpty || rest.first == UInt8(ascii: ";") else {
            throw .malformed("a chunk has no valid size")
        }
        phase = size == 0 ? .trailers : .chunk(remaining: size)
    }

    private mutating func takeChunkEnd(_ line: UnsafeRawBufferPointer) throws(ResponseFault) {
        guard line.isEmpty else { throw .malformed("a chunk is longer than its size") }
        phase = .chunkSize
    }
}

/// The effect of a request's method on the body of its response.
private enum ResponseMethod {
    case head, connect, other

    init(_ method: String) {
        switch method {
        case "HEAD": self = .head
        case "CONNECT": self = .connect
        default: self = .other
        }
    }

    /// Whether a response opens a tunnel, so that Content-Length and Transfer-Encoding are ignored (RFC 9110, 9.3.6).
    func opensTunnel(with status: Int) -> Bool { self == .connect && 200..<300 ~= status }
}

/// The framing of a response's body (RFC 9112, 6.3).
private enum BodyFraming {
    case none
    case length(Int)
    case chunked
    case untilClose

    init(_ head: ResponseHead, _ method: ResponseMethod) throws(ResponseFault) {
        if method.opensTunnel(with: head.status) {
            self = .none
            return
        }
        let length = try Self.length(head)
        guard !head.hasTransferCodings || length == nil else {
            throw .malformed("it has both Content-Length and Transfer-Encoding")
        }
        if method == .head || head.status < 200 || head.status == 204 || head.status == 304 {
            self = .none
        } else if head.hasTransferCodings {
            self = try TransferCodings(head.values(of: "transfer-encoding")).isChunked ? .chunked : .untilClose
        } else {
            self = length.map(Self.length) ?? .untilClose
        }
    }

    private static func length(_ head: ResponseHead) throws(ResponseFault) -> Int? {
        guard let field = head.lengthField else { return nil }
        guard !head.hasSeveralLengths else { throw .malformed("it has several Content-Length fields") }
        let value = head.fields[field].1
        guard !value.isEmpty, value.utf8.allSatisfy({ $0.isASCIIDigit }), let length = Int(value) else {
            throw .malformed("its Content-Length is not a number")
        }
        return length
    }
}

/// The reason why bytes on a connection are not a valid response.
package enum ResponseFault: Error, Sendable, Hashable {
    /// The bytes are not valid HTTP/1.1. The text says why.
    case malformed(String)
    /// The heads or the trailers exceed this limit in bytes.
    case headTooLarge(Int)
    /// The response arrived without a request.
    case unsolicited
    /// The connection was closed before the end of the response.
    case truncated
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")

    fileprivate var isLineEnd: Bool { self == .lineFeed || self == .carriageReturn }

    fileprivate var isHexadecimal: Bool { hexadecimalValue != nil }
}

/// The transfer codings of a body (RFC 9112, 6.1).
package struct TransferCodings: Sendable, Hashable {
    /// A compression.
    package enum Compression: Sendable, Hashable {
        /// RFC 1952.
        case gzip
        /// RFC 1950.
        case deflate
    }

    /// The maximum number of compressions: an honest server uses one, and each costs work per byte.
    package static let maximumCompressions = 3

    /// The compressions in the order in which they were applied.
    package let compressions: [Compression]
    /// Whether the body is chunked; if not, it ends with the connection.
    package let isChunked: Bool

    /// Parses the values of `Transfer-Encoding`.
    ///
    /// - Throws: ``ResponseFault/malformed(_:)`` for an unknown coding, too many codings, none at all, and for
    ///   `chunked` anywhere but at the end.
    package init(_ values: some Sequence<String>) throws(ResponseFault) {
        var names = values.flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }
        names.removeAll(where: \.isEmpty)
        guard let last = names.last else { throw .malformed("its Transfer-Encoding is empty") }
        isChunked = last == "chunked"
        if isChunked { names.removeLast() }
        var compressions: [Compression] = []
        for name in names {
            switch name {
            case "gzip", "x-gzip": compressions.append(.gzip)
            case "deflate": compressions.append(.deflate)
            case "identity": continue
            case "chunked": throw .malformed("its transfer coding 'chunked' is not the last one, or occurs twice")
            default: throw .malformed("its transfer coding '\(Self.printable(name))' is unknown")
            }
        }
        guard compressions.count <= Self.maximumCompressions else {
            throw .malformed("it has more than \(Self.maximumCompressions) compressions as transfer codings")
        }
        self.compressions = compressions
    }

    private static func trimmed(_ name: Substring) -> Substring {
        let start = name.utf8.drop { $0.isBlank }
        guard let last = start.lastIndex(where: { !$0.isBlank }) else { return "" }
        return Substring(start[...last])
    }

    private static func printable(_ name: String) -> String {
        String(name.unicodeScalars.prefix(40).map { $0.isASCII && $0.value > 0x1F ? Character($0) : "?" })
    }
}
