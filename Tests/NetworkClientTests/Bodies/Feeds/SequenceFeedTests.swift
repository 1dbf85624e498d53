import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Reading sequences on demand, and detecting wrong lengths.
@Suite(.timeLimit(.minutes(5)))
struct SequenceFeedTests {
    private func source(
        _ sequence: some AsyncSequence<[UInt8], any Error> & Sendable,
        length: Int64? = nil
    ) -> BodySource {
        .replayable(length: length, SequenceFeed.reading({ sequence }, { ByteBuffer(bytes: $0) }))
    }

    private func failure(_ pieces: [[UInt8]], length: Int64) async -> (given: [[UInt8]], error: HTTPError?) {
        var given: [[UInt8]] = []
        let error = await #expect(throws: HTTPError.self) {
            let feed = try await OpenedFeed(source(WatchedSequence(pieces), length: length))
            do {
                while let piece = try await feed.next() { given.append(piece) }
            } catch {
                try await feed.close()
                throw error
            }
        }
        return (given, error)
    }

    @Test(arguments: [nil, 6])
    func `elements become pieces, and empty ones are left out`(length: Int64?) async throws {
        let pieces: [[UInt8]] = [[], [1, 2], [], [], [3], [4, 5, 6], []]
        let given = try await OpenedFeed.pieces(of: source(WatchedSequence(pieces), length: length))
        #expect(given == [[1, 2], [3], [4, 5, 6]])
    }

    @Test(arguments: [nil, 0])
    func `a sequence without elements is an empty body`(length: Int64?) async throws {
        #expect(try await OpenedFeed.pieces(of: source(WatchedSequence([]), length: length)) == [])
    }

    @Test func `a sequence that ends before its length is an error`() async {
        let (given, error) = await failure([[1, 2], [3]], length: 4)
        #expect(given == [[1, 2], [3]])
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.reason.hasSuffix("it ended after 3 of the 4 bytes that were promised") == true)
    }

    @Test(arguments: [[[1, 2], [3, 4, 5]], [[1, 2], [3, 4], [5]], [[1, 2], [3, 4], [], [5]]] as [[[UInt8]]])
    func `a sequence that is longer than its length is never sent completely`(pieces: [[UInt8]]) async {
        let (given, error) = await failure(pieces, length: 4)
        #expect(given == [[1, 2]])
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.reason.hasSuffix("it gives more than the 4 bytes that were promised") == true)
    }

    @Test func `an element is requested only on demand`() async throws {
        let sequence = WatchedSequence([[1], [2], [3]])
        let feed = try await OpenedFeed(source(sequence))
        #expect(sequence.asked.value == 0)
        #expect(try await feed.next() == [1])
        #expect(sequence.asked.value == 1)
        #expect(try await feed.next() == [2])
        #expect(sequence.asked.value == 2)
        try await feed.close()
        #expect(sequence.asked.value == 2)
    }

    @Test func `the feed fails with the error that the sequence throws`() async throws {
        struct Broken: Error {}
        let feed = try await OpenedFeed(source(WatchedSequence([[1]], ending: { throw Broken() })))
        #expect(try await feed.next() == [1])
        await #expect(throws: Broken.self) { try await feed.next() }
        try await feed.close()
    }

    @Test func `an error before the first request fails the first request`() async throws {
        struct Broken: Error {}
        for _ in 0..<20 {
            let isThrown = Observed(false)
            let source = BodySource.replayable(length: nil) { _, _ in
                isThrown.update { $0 = true }
                throw Broken()
            }
            let feed = try await OpenedFeed(source)
            try await isThrown.wait(for: "the error") { $0 }
            await #expect(throws: Broken.self) { try await feed.next() }
            await #expect(throws: Broken.self) { try await feed.next() }
            try await feed.close()
        }
    }

    @Test func `closing the feed cancels a pending read of the sequence`() async throws {
        let cancelled = Observed(false)
        let sequence = WatchedSequence([]) {
            await withTaskCancellationHandler {
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                end.finish()
            } onCancel: {
                cancelled.update { $0 = true }
            }
        }
        let feed = try await OpenedFeed(source(sequence))
        let waiting = try await feed.ask()
        try await sequence.asked.wait(for: "the first demand") { $0 == 1 }
        try await feed.close()
        await #expect(throws: CancellationError.self) { try await waiting.get() }
        try await cancelled.wait(for: "the cancelling") { $0 }
    }

    @Test func `a second read of a one-time body fails`() async throws {
        let sequence = WatchedSequence([[1]])
        let source = BodySource.once(length: 1, SequenceFeed.reading({ sequence }, { ByteBuffer(bytes: $0) }))
        #expect(!source.isReplayable)
        #expect(try await OpenedFeed.pieces(of: source) == [[1]])
        let error = await #expect(throws: HTTPError.self) { try await OpenedFeed.pieces(of: source) }
        #expect(error?.code == .bodyNotReplayable && error?.processing == .neverSent)
        #expect(sequence.asked.value == 2)
    }
}
