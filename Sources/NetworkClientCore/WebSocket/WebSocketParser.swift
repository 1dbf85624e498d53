/// Parses the frames that a server sends (RFC 6455, 5), from pieces of any size.
///
/// A payload is not copied: its events give the number of bytes of the input that belong to the message. So a frame that
/// announces a large payload costs no memory.
package struct WebSocketParser: Sendable {
    /// A part of the input.
    package enum Event: Sendable, Hashable {
        /// A message begins.
        case begin(isText: Bool, isCompressed: Bool)
        /// The last bytes that were consumed belong to the message.
        case payload(Int)
        /// The message is complete.
        case end
        case ping([UInt8])
        case pong([UInt8])
        case close(WebSocketClosure)
    }

    private enum Phase: Sendable, Hashable {
        case header
        case payload(remaining: Int, isFinal: Bool)
        case control(WebSocketFrame.Opcode, remaining: Int)
        case over
    }

    /// The maximum size of a message in bytes; compressed messages are limited after decompression.
    private let maximumMessageSize: Int
    /// Whether messages may be compressed.
    private let allowsCompression: Bool
    private var phase = Phase.header
    /// The bytes of an incomplete header, or the payload of an incomplete control frame.
    private var pending: [UInt8] = []
    /// The size of the current message so far, announced by its frames; nil between messages.
    private var messageSize: Int?
    private var isMessageCompressed = false

    /// Creates a parser.
    package init(maximumMessageSize: Int, allowsCompression: Bool) {
        self.maximumMessageSize = maximumMessageSize
        self.allowsCompression = allowsCompression
    }

    /// Whether there has been a Close frame or a fault: what follows is ignored.
    package var isOver: Bool { phase == .over }

    /// Parses more input.
    ///
    /// - Parameter bytes: The input that has not been consumed; may be empty.
    /// - Returns: The number of consumed bytes and the event. Without an event, all bytes were consumed and more are
    ///   needed.
    /// - Throws: ``WebSocketFault``. After that, nothing else is parsed.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer
    ) throws(WebSocketFault) -> (consumed: Int, event: Event?) {
        do throws(WebSocketFault) {
            return try read(bytes)
        } catch {
            phase = .over
            throw error
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws(WebSocketFault) -> (Int, Event?) {
        var position = 0
        while true {
            let available = bytes.count - position
            switch phase {
            case .over: return (bytes.count, nil)
            case .header:
                guard available > 0 else { return (position, nil) }
                pending.append(bytes[position])
                position += 1
                guard let frame = try header() else { continue }
                pending.removeAll(keepingCapacity: true)
                if let event = try begin(frame) { return (position, event) }
            case .payload(0, let isFinal):
                phase = .header
                guard isFinal else { continue }
                messageSize = nil
                return (position, .end)
            case .payload(let remaining, let isFinal):
                let count = min(remaining, available)
                guard count > 0 else { return (position, nil) }
                phase = .payload(remaining: remaining - count, isFinal: isFinal)
                return (position + count, .payload(count))
            case .control(let opcode, let remaining):
                let count = min(remaining, available)
                pending += bytes[position..<position + count]
                position += count
                guard count == remaining else {
                    phase = .control(opcode, remaining: remaining - count)
                    return (position, nil)
                }
                return (position, try control(opcode))
            }
        }
    }

    // MARK: Headers

    /// Parses the pending bytes as a header; nil if it is incomplete.
    ///
    /// Called for each byte, so that a fault is found at the first wrong one.
    private func header() throws(WebSocketFault) -> WebSocketFrame? {
        let first = pending[0]
        guard let opcode = WebSocketFrame.Opcode(rawValue: first & 0x0F) else {
            throw .violation("a frame has the unknown opcode \(first & 0x0F)")
        }
        let isCompressed = first & 0x40 != 0
        guard first & 0x30 == 0, !isCompressed || allowsCompression && (opcode == .text || opcode == .binary) else {
            throw .violation("a frame has reserved bits that no extension gives a meaning")
        }
        let isFinal = first & 0x80 != 0
        guard pending.count > 1 else { return nil }
        guard pending[1] & 0x80 == 0 else { throw .violation("a frame is masked, which only a client's may be") }
        guard !opcode.isControl || isFinal && pending[1] <= WebSocketFrame.maximumControlSize else {
            throw .violation("a control frame is fragmented, or larger than 125 bytes")
        }
        guard let length = try length() else { return nil }
        return .init(opcode, length: length, isFinal: isFinal, isCompressed: isCompressed)
    }

    /// Parses the length of the payload; nil if it is incomplete.
    private func length() throws(WebSocketFault) -> Int? {
        let short = Int(pending[1])
        guard short > 125 else { return short }
        let (size, lowest) = short == 126 ? (2, 126) : (8, 0x1_0000)
        guard pending.count == 2 + size else { return nil }
        let length = pending[2...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard let length = Int(exactly: length), length >= lowest else {
            throw .violation("the length of a frame is not in its shortest form, or has its highest bit set")
        }
        return length
    }

    // MARK: Payloads

    private mutating func begin(_ frame: WebSocketFrame) throws(WebSocketFault) -> Event? {
        guard !frame.opcode.isControl else {
            phase = .control(frame.opcode, remaining: frame.length)
            return nil
        }
        let isContinuation = frame.opcode == .continuation
        guard isContinuation == (messageSize != nil) else {
            throw .violation(
                isContinuation ? "a continuation frame continues no message" : "a message begins within another one"
            )
        }
        if !isContinuation { isMessageCompressed = frame.isCompressed }
        let size = messageSize ?? 0
        if !isMessageCompressed, frame.length > maximumMessageSize - size { throw .tooLarge(maximumMessageSize) }
        messageSize = isMessageCompressed ? 0 : size + frame.length
        phase = .payload(remaining: frame.length, isFinal: frame.isFinal)
        return isContinuation ? nil : .begin(isText: frame.opcode == .text, isCompressed: frame.isCompressed)
    }

    private mutating func control(_ opcode: WebSocketFrame.Opcode) throws(WebSocketFault) -> Event {
        let payload = pending
        pending.removeAll(keepingCapacity: true)
        phase = .header
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default:
            phase = .over
            return .close(try .init(payload: payload))
        }
    }
}
