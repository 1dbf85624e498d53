/// The outcomes of an outbox, each until it is acknowledged.
public struct OutboxOutcomes: AsyncSequence, Sendable {
    /// The outcomes.
    public typealias Element = OutboxOutcome
    /// The error if the outbox can't be read.
    public typealias Failure = OutboxError

    let outbox: Outbox

    /// Creates an iterator, which begins with the first outcome that is not acknowledged.
    public func makeAsyncIterator() -> AsyncIterator { .init(outbox) }

    /// Reads the outcomes in the order in which the items ended; waits for the next one.
    ///
    /// It ends when its task is cancelled, and keeps the outbox open until it is released.
    public final class AsyncIterator: AsyncIteratorProtocol {
        private let outbox: Outbox
        private let signal = Signal()
        private let listener: Int
        private var buffer: [OutboxOutcome] = []
        private var position: Int64 = 0

        init(_ outbox: Outbox) {
            self.outbox = outbox
            let signal = signal
            listener = outbox.engine.listen { signal.raise() }
        }

        deinit { outbox.engine.unlisten(listener) }

        /// Returns the next outcome; nil if the task is cancelled.
        public func next() async throws(OutboxError) -> OutboxOutcome? {
            while buffer.isEmpty {
                if Task.isCancelled { return nil }
                do { buffer = try await outbox.storage.outcomes(after: position, limit: 100) } catch {
                    throw OutboxError(error)
                }
                guard buffer.isEmpty else { break }
                let signal = signal
                await withTaskCancellationHandler {
                    await signal.wait(for: nil)
                } onCancel: {
                    signal.raise()
                }
            }
            let outcome = buffer.removeFirst()
            position = outcome.sequence
            return outcome
        }
    }
}
