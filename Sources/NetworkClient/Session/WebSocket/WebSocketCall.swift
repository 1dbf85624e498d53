import NIOCore
import NetworkClientCore
import Synchronization

/// A call of the user that waits for the connection, and can be cancelled from any thread.
final class WebSocketCall: Sendable {
    private let state = Atomic(false)

    /// Whether its task was cancelled.
    var isCancelled: Bool { state.load(ordering: .acquiring) }

    /// Marks it as cancelled.
    func cancel() { state.store(true, ordering: .releasing) }
}

extension HTTPError {
    /// The error for a call whose task was cancelled; the WebSocket stays open.
    static func cancelledCall(_ what: String, _ processing: Processing = .answered) -> Self {
        .init(.cancelled, processing: processing, reason: "\(what) the WebSocket was cancelled")
    }

    /// The error for a message or ping that can't be sent, because the WebSocket is closed or closing.
    static func webSocketClosed(_ closure: WebSocketClosure?) -> Self {
        let how = closure.map { " (\($0.text))" } ?? ""
        return .init(.webSocketClosed, processing: .answered, reason: "the WebSocket is closed\(how)")
    }

    /// The error for a WebSocket that the server has closed because of an error.
    static func webSocketClosed(byServer closure: WebSocketClosure) -> Self {
        .init(.webSocketClosed, processing: .answered, reason: "the server has closed the WebSocket: \(closure.text)")
    }

    /// The error for a connection that ended without a Close frame.
    static func webSocketLost(_ cause: (any Error)?, at host: String) -> Self {
        let errno = (cause as? IOError)?.errnoCode
        let how = cause.map { ($0 as? HTTPError)?.reason ?? errno.map(describe) ?? "\($0)" } ?? "closed by the server"
        let reason = "the connection of the WebSocket to \(host) ended without a Close frame (\(how))"
        return .init(.connectionLost, processing: .answered, reason: reason, errno: errno, cause: cause)
    }
}

extension WebSocketFault {
    /// Returns the error for a violation of the protocol by the server.
    func error(at host: String) -> HTTPError {
        let reason = "the WebSocket of \(host) was closed with the code \(code): \(reason)"
        return .init(.webSocketFailed, processing: .answered, reason: reason, cause: self)
    }
}

extension WebSocketClosure {
    /// The closure for messages.
    fileprivate var text: String { reason.isEmpty ? "code \(code)" : "code \(code), '\(reason)'" }
}
