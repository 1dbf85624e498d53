/// A message of a WebSocket (RFC 6455, 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// A text.
    case text(String)
    /// Bytes.
    case binary([UInt8])
}

/// Assembles a message from its payload, after decompression, and rejects an invalid one as early as possible.
package struct WebSocketAssembler: Sendable {
    private let maximumSize: Int
    private var isText = false
    private var bytes: [UInt8] = []
    private var validator = UTF8Validator()

    /// Creates an assembler for messages up to a size in bytes.
    package init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// The number of further bytes that the message may have.
    package var room: Int { maximumSize - bytes.count }

    /// Begins a message.
    package mutating func begin(isText: Bool) {
        self.isText = isText
        validator = .init()
    }

    /// Adds a piece of the payload.
    ///
    /// The first fault counts, however the payload is divided into pieces.
    ///
    /// - Throws: ``WebSocketFault`` if the message is too large, or a text is not UTF-8.
    package mutating func append(_ piece: UnsafeRawBufferPointer) throws(WebSocketFault) {
        if isText, !validator.accepts(.init(rebasing: piece.prefix(room))) { throw Self.invalidText }
        guard piece.count <= room else { throw .tooLarge(maximumSize) }
        bytes += piece
    }

    /// Ends the message, and returns it.
    ///
    /// - Throws: ``WebSocketFault`` if a text ends within a character.
    package mutating func end() throws(WebSocketFault) -> WebSocketMessage {
        guard !isText || validator.isComplete else { throw Self.invalidText }
        var whole: [UInt8] = []
        swap(&whole, &bytes)
        return isText ? .text(String(decoding: whole, as: UTF8.self)) : .binary(whole)
    }

    private static let invalidText = WebSocketFault(.invalidPayload, "a text message is not UTF-8")
}
