/// The rules by which the items of a lane are sent together, as one request.
package struct BatchRules: Sendable, Hashable {
    /// The maximum number of items.
    package var items: Int
    /// The maximum size of the body in bytes.
    package var bytes: Int64
    /// The time for which the first item waits for others.
    package var linger: Duration

    /// The numbers of items that a rule may have.
    package static let itemRange = 1...1_000_000
    /// The sizes in bytes that a rule may have.
    package static let byteRange: ClosedRange<Int64> = 1...1 << 30

    /// Creates rules, with the nearest numbers that they may have.
    package init(items: Int, bytes: Int64 = 1 << 20, linger: Duration) {
        self.items = min(max(items, Self.itemRange.lowerBound), Self.itemRange.upperBound)
        self.bytes = min(max(bytes, Self.byteRange.lowerBound), Self.byteRange.upperBound)
        self.linger = linger
    }

    /// An item that waits for a batch.
    package struct Candidate: Sendable, Hashable {
        package var size: Int64
        package var added: BoxTime

        package init(size: Int64, added: BoxTime) {
            self.size = size
            self.added = added
        }
    }

    /// Whether a batch is sent, and when.
    package enum Composition: Sendable, Hashable {
        /// The first items are sent.
        case send(Int)
        /// They wait for others.
        case wait(until: BoxTime)
        /// There are none.
        case none
    }

    /// Returns how many of the waiting items are sent together.
    ///
    /// - Parameters:
    ///   - candidates: The waiting items in order, up to one more than ``items``.
    ///   - now: The current time.
    /// - Returns: The number, or when to ask again.
    package func composition(_ candidates: [Candidate], at now: BoxTime) -> Composition {
        guard let first = candidates.first else { return .none }
        var (count, size) = (0, Int64(0))
        for candidate in candidates.prefix(items) {
            // Each line of NDJSON ends with a line feed.
            size += candidate.size + 1
            if count > 0, size > bytes { return .send(count) }
            count += 1
        }
        let end = first.added.advanced(by: linger)
        return count == items || end <= now ? .send(count) : .wait(until: end)
    }

    /// Returns the number of items in each of the batches that replace one that was rejected as a whole.
    ///
    /// 413 (too large) and 400 (one of them is faulty) halve it, until a single item is left, which is refused. A batch that
    /// may have been processed before is not divided: its items would be processed again, under other keys.
    ///
    /// - Parameters:
    ///   - count: The number of items of the batch.
    ///   - status: The status of the response.
    /// - Returns: The numbers; nil if the status says nothing about a part of the batch, or if it is a single item.
    package static func split(_ count: Int, status: Int) -> [Int]? {
        guard count > 1, status == 400 || status == 413 || status == 422 else { return nil }
        return [count / 2, count - count / 2]
    }
}
