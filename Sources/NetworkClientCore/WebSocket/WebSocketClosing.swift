/// The closing handshake (RFC 6455, 7): each side sends one Close frame.
package struct WebSocketClosing: Sendable, Hashable {
    /// The Close frame that was sent.
    package private(set) var sent: WebSocketClosure?
    /// The Close frame that was received.
    package private(set) var received: WebSocketClosure?
    /// Whether the connection has ended.
    package private(set) var hasEnded = false

    /// Creates the state of a WebSocket that is open.
    package init() {}

    /// Whether messages may be sent.
    package var isOpen: Bool { sent == nil && received == nil && !hasEnded }

    /// Whether both sides have sent their Close frames.
    package var isComplete: Bool { sent != nil && received != nil }

    /// Closes this side.
    ///
    /// - Returns: Whether the Close frame has to be sent: none was sent before, and the connection has not ended.
    package mutating func send(_ closure: WebSocketClosure) -> Bool {
        guard sent == nil, !hasEnded else { return false }
        sent = closure
        return true
    }

    /// Handles the other side's Close frame.
    ///
    /// - Returns: The Close frame to respond with: the same code; nil if one was already sent.
    package mutating func receive(_ closure: WebSocketClosure) -> WebSocketClosure? {
        received = received ?? closure
        let response = WebSocketClosure(closure.code)
        return send(response) ? response : nil
    }

    /// Handles the end of the connection.
    package mutating func end() { hasEnded = true }

    /// The end as the user sees it: the other side's Close frame; without one, `abnormal`.
    package var closure: WebSocketClosure { received ?? .init(.abnormal, reason: sent?.reason ?? "") }
}
