/// Bytes that come while they are sent.
public struct MultipartStream: Sendable {
    /// The bytes, piece by piece; pieces may be empty.
    public typealias Pieces = any AsyncSequence<[UInt8], any Error> & Sendable

    /// How many bytes there will be; nil if that is not known.
    public let length: Int64?
    /// Whether ``make`` gives the same bytes each time.
    public let isReplayable: Bool
    /// Gives the sequence, each time the form is sent.
    public let make: @Sendable () -> Pieces

    /// A sequence that can be made again, as often as the form is sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes it gives each time; nil if that is not known. To give fewer or more is an error.
    ///   - make: Makes it.
    /// - Returns: The stream.
    public static func replayable<Sequence: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ make: @escaping @Sendable () -> Sequence
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: true) { FallibleSequence(base: make()) }
    }

    /// A sequence that can be read once: the form is then never sent twice.
    ///
    /// - Parameters:
    ///   - sequence: Gives the bytes.
    ///   - length: How many it gives; nil if that is not known. To give fewer or more is an error.
    /// - Returns: The stream.
    public static func once<Sequence: AsyncSequence & Sendable>(
        _ sequence: Sequence,
        length: Int64? = nil
    ) -> Self where Sequence.Element == [UInt8] {
        .init(length: length, isReplayable: false) { FallibleSequence(base: sequence) }
    }
}

/// A sequence that never fails, or in its own way, among those that may fail in any.
private struct FallibleSequence<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable {
    typealias Element = Base.Element
    typealias Failure = any Error

    let base: Base

    func makeAsyncIterator() -> Iterator { .init(base: base.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator

        mutating func next() async throws -> Base.Element? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Base.Element? {
            try await base.next(isolation: actor)
        }
    }
}
