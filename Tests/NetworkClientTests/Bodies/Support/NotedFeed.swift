import Locking
import NIOCore

@testable import NetworkClient

/// Provides pieces from a closure, and records the calls.
final class NotedFeed: BodyFeed {
    /// The calls of all feeds of one source.
    final class Record: Sendable {
        private let state = Lock((asked: 0, closed: 0))

        var asked: Int { state.withLock { $0.asked } }
        var closed: Int { state.withLock { $0.closed } }

        func ask() { state.withLock { $0.asked += 1 } }
        func close() { state.withLock { $0.closed += 1 } }
    }

    struct Refusal: Error {}

    private let loop: any EventLoop
    private let record: Record
    private let pieces: @Sendable (Int) throws -> ByteBuffer?
    private var number = 0

    private init(_ loop: any EventLoop, _ record: Record, _ pieces: @escaping @Sendable (Int) throws -> ByteBuffer?) {
        self.loop = loop
        self.record = record
        self.pieces = pieces
    }

    func next() -> EventLoopFuture<ByteBuffer?> {
        record.ask()
        defer { number += 1 }
        do {
            return loop.makeSucceededFuture(try pieces(number))
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    func close() { record.close() }

    /// A body of the pieces that a closure gives, by their number.
    static func body(
        length: Int64?,
        isReplayable: Bool = true,
        record: Record = .init(),
        _ pieces: @escaping @Sendable (Int) throws -> ByteBuffer?
    ) -> RequestBody {
        let source = BodySource(length: length, isReplayable: isReplayable) { loop in NotedFeed(loop, record, pieces) }
        return .init(content: .success(.init(makeSource: { source })))
    }
}
