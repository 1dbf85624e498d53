import HTTPLab

/// A sequence that counts the requested elements.
final class WatchedSequence: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    typealias Failure = any Error

    /// The number of requested elements, including the end.
    let asked = Observed(0)
    private let pieces: [[UInt8]]
    private let ending: @Sendable () async throws -> Void

    init(_ pieces: [[UInt8]], ending: @escaping @Sendable () async throws -> Void = {}) {
        self.pieces = pieces
        self.ending = ending
    }

    func makeAsyncIterator() -> Iterator { .init(sequence: self) }

    struct Iterator: AsyncIteratorProtocol {
        let sequence: WatchedSequence
        private var position = 0

        init(sequence: WatchedSequence) { self.sequence = sequence }

        mutating func next() async throws -> [UInt8]? {
            sequence.asked.update { $0 += 1 }
            guard position < sequence.pieces.count else {
                try await sequence.ending()
                return nil
            }
            defer { position += 1 }
            return sequence.pieces[position]
        }
    }
}
