import ReachabilityCore

/// What a monitor tells, as an asynchronous sequence: what is so now, and then every change.
///
/// ```swift
/// for await change in monitor.changes {
///     print(change.status.name, change.reasons.map(\.rawValue))
/// }
/// ```
///
/// Each iterator is a subscription of its own: it begins with the current value, whenever it was made. A task that is
/// slow may miss what came between, never the last. The sequence ends only when the iterating task is cancelled; it
/// keeps its monitor alive.
///
/// **Isolation**: elements arrive in the iterating task, on its own executor.
public struct ChangeSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never

    private let makeSource: @Sendable () -> Iterator

    /// Makes a sequence.
    ///
    /// - Parameters:
    ///   - limit: How many elements wait for a slow task at most; at least 1.
    ///   - subscribe: Makes the subscription that feeds an iterator.
    init(
        limit: Int,
        subscribe: @escaping @Sendable (@escaping @Sendable (Element) -> Void) -> Subscription
    ) where Element: Notice {
        makeSource = {
            let stream = NoticeStream<Element>(limit: limit)
            return Iterator(subscription: subscribe { stream.push($0) }) { await stream.next() }
        }
    }

    /// Subscribes; the subscription ends with the iterator.
    public func makeAsyncIterator() -> Iterator { makeSource() }

    /// Takes one element after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: Subscription
        private let take: () async -> Element?

        init(subscription: Subscription, take: @escaping () async -> Element?) {
            self.subscription = subscription
            self.take = take
        }

        /// The next element, as soon as there is one; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await take()
        }

        /// The next element, as soon as there is one; nil when the task is cancelled.
        public mutating func next() async -> Element? { await take() }
    }
}
