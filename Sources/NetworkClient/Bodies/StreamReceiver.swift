import NIOCore
import NIOHTTP1

/// Hands an answer of success to a stream; all others stay in memory, where serializers find them.
final class StreamReceiver: BodyReceiver {
    private let stream: BodyStream
    private let loop: any EventLoop
    /// What was handed out can't be taken back.
    private(set) var canStartAgain = true
    let continuesByRange = false

    init(_ stream: BodyStream, loop: any EventLoop) {
        self.stream = stream
        self.loop = loop
    }

    func willSend(_ head: inout HTTPRequestHead) {}

    func begin(_ head: HTTPResponseHead) -> Reception {
        guard (200...299).contains(head.status.code) else { return .memory }
        canStartAgain = false
        stream.begin(.init(head))
        return .here
    }

    func receive(_ bytes: ByteBuffer) -> EventLoopFuture<Void>? { stream.give(bytes, on: loop) }

    func end() -> EventLoopFuture<Void>? { nil }

    func abandon() {}
}
