import Locking
import NIOCore
import NetworkClientCore

/// The received messages that have not been read.
///
/// Its size is bounded: while it is full, the connection is not read, and the server has to wait.
final class WebSocketInbox: Sendable {
    /// The size above which the connection is not read, in bytes.
    static let limit = 256 << 10
    /// The memory that a message takes besides its payload, in bytes.
    private static let messageOverhead = 64

    typealias Delivery = Result<WebSocketMessage?, HTTPError>

    private struct State {
        var messages = CircularBuffer<WebSocketMessage>()
        var size = 0
        var readers: [(call: WebSocketCall, continuation: UnsafeContinuation<Delivery, Never>)] = []
        var end: Delivery?
        var closure: WebSocketClosure?
        /// Whether the connection is not read because of it.
        var isStopped = false
        /// Called when there is room again.
        var onRoom: (@Sendable () -> Void)?

        mutating func pop() -> (WebSocketMessage, (@Sendable () -> Void)?)? {
            guard let message = messages.popFirst() else { return nil }
            size -= message.size + messageOverhead
            guard size <= limit / 2, isStopped else { return (message, nil) }
            isStopped = false
            return (message, onRoom)
        }
    }

    private let state = Lock(State())

    // MARK: From the event loop

    /// Delivers a message.
    func give(_ message: WebSocketMessage) {
        let reader = state.withLock { state -> UnsafeContinuation<Delivery, Never>? in
            guard state.end == nil else { return nil }
            guard state.readers.isEmpty else { return state.readers.removeFirst().continuation }
            state.messages.append(message)
            state.size += message.size + Self.messageOverhead
            return nil
        }
        reader?.resume(returning: .success(message))
    }

    /// Sets the closure that is called when there is room again.
    func whenRoom(_ onRoom: @escaping @Sendable () -> Void) { state.withLock { $0.onRoom = onRoom } }

    /// Returns whether it is full; if so, the reader that makes room calls the closure.
    func isFull() -> Bool {
        state.withLock { state in
            state.isStopped = state.size > Self.limit
            return state.isStopped
        }
    }

    /// Ends the messages: those that were received before can still be read.
    func end(_ end: Delivery, _ closure: WebSocketClosure?) {
        let readers = state.withLock { state -> [UnsafeContinuation<Delivery, Never>] in
            state.closure = state.closure ?? closure
            guard state.end == nil else { return [] }
            state.end = end
            defer { state.readers = [] }
            return state.readers.map(\.continuation)
        }
        for reader in readers { reader.resume(returning: end) }
    }

    // MARK: From the user

    /// How the WebSocket ended; nil while it has not.
    var closure: WebSocketClosure? { state.withLock { $0.closure } }

    /// Waits for the next message, and returns it; nil at the end.
    func next() async throws(HTTPError) -> WebSocketMessage? {
        let call = WebSocketCall()
        let delivery = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let (delivery, onRoom) = receive(call, continuation)
                onRoom?()
                if let delivery { continuation.resume(returning: delivery) }
            }
        } onCancel: {
            call.cancel()
            cancel(call)
        }
        return try delivery.get()
    }

    /// Takes a message, or registers a reader.
    private func receive(
        _ call: WebSocketCall,
        _ continuation: UnsafeContinuation<Delivery, Never>
    ) -> (Delivery?, (@Sendable () -> Void)?) {
        state.withLock { state in
            if let (message, onRoom) = state.pop() { return (.success(message), onRoom) }
            if let end = state.end { return (end, nil) }
            if call.isCancelled { return (.failure(.cancelledCall("reading from")), nil) }
            state.readers.append((call, continuation))
            return (nil, nil)
        }
    }

    private func cancel(_ call: WebSocketCall) {
        let reader = state.withLock { state -> UnsafeContinuation<Delivery, Never>? in
            guard let index = state.readers.firstIndex(where: { $0.call === call }) else { return nil }
            return state.readers.remove(at: index).continuation
        }
        reader?.resume(returning: .failure(.cancelledCall("reading from")))
    }
}

extension WebSocketMessage {
    /// The size of its payload in bytes.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
