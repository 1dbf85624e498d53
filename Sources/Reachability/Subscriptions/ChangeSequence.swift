import Locking
import ReachabilityCore

/// The updates of a monitor as an asynchronous sequence: the current value, and then every change.
///
/// ```swift
/// for await change in monitor.changes {
///     print(change.status.name, change.reasons.map(\.rawValue))
/// }
/// ```
///
/// Each iterator is a subscription of its own: it begins with the current value, whenever it was created. A slow task
/// may miss intermediate values, never the last. The sequence ends only when the iterating task is cancelled; it keeps
/// its monitor alive.
///
/// **Isolation**: elements arrive in the iterating task, on its own executor.
public struct ChangeSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails.
    public typealias Failure = Never

    private let makeSource: @Sendable () -> Iterator

    /// Creates a sequence.
    ///
    /// - Parameters:
    ///   - limit: The number of elements that wait for a slow task; at least 1.
    ///   - subscribe: Creates the subscription that feeds an iterator.
    init(
        limit: Int,
        subscribe: @escaping @Sendable (@escaping @Sendable (Element) -> Void) -> Subscription
    ) where Element: Update {
        makeSource = {
            let stream = UpdateStream<Element>(limit: limit)
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

/// The updates of one subscription, for one task that takes them.
final class UpdateStream<Element: Update>: Sendable {
    private let machine: Lock<StateMachine>

    /// Creates an empty stream that keeps the newest updates, and drops older ones.
    init(limit: Int) { machine = .init(.init(limit: limit)) }

    /// Brings the newest update, and wakes the task that waits for it.
    func push(_ element: Element) { machine.withLock { $0.push(element) }?.resume() }

    /// Whether the stream has ended: updates that were taken from it before are not to be delivered any more.
    var isFinished: Bool { machine.withLock(\.isFinished) }

    /// Ends the stream.
    func finish() {
        for waiter in machine.withLock({ $0.finish() }) { waiter.resume() }
    }

    /// Waits for an update, on the caller's executor; nil at the end, and when the task is cancelled, which ends it.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            while true {
                switch machine.withLock({ $0.take() }) {
                case .take(let element): return element
                case .wait: await wait()
                }
            }
        } onCancel: {
            finish()
        }
    }

    private func wait() async {
        await withUnsafeContinuation { waiter in
            if machine.withLock({ $0.wait(waiter) }) { waiter.resume() }
        }
    }
}

extension UpdateStream {
    /// Decides whether an update waits for the task, or the task for an update.
    struct StateMachine: Sendable {
        /// A task that waits for an update; resumed without one, and takes it then.
        typealias Waiter = UnsafeContinuation<Void, Never>

        /// The action for a task that asks, to be taken after the lock.
        enum Request: Sendable {
            /// Return this; nil if the stream has ended.
            case take(Element?)
            /// There is no update: wait.
            case wait
        }

        /// Whether the stream has ended.
        private(set) var isFinished = false
        private var buffer: UpdateBuffer<Element>
        private var waiters: [Waiter] = []

        /// Creates a machine that keeps a number of updates.
        init(limit: Int) { buffer = .init(limit: limit) }

        /// Takes an update; returns the task to wake for it.
        mutating func push(_ element: Element) -> Waiter? {
            guard !isFinished else { return nil }
            buffer.push(element)
            return waiters.isEmpty ? nil : waiters.removeFirst()
        }

        /// A task asks for an update.
        mutating func take() -> Request {
            if isFinished { return .take(nil) }
            return buffer.pop().map { .take($0) } ?? .wait
        }

        /// A task waits; returns whether it need not, because something happened since it asked.
        mutating func wait(_ waiter: Waiter) -> Bool {
            guard !isFinished, buffer.isEmpty else { return true }
            waiters.append(waiter)
            return false
        }

        /// Ends the stream; returns the tasks to wake.
        mutating func finish() -> [Waiter] {
            isFinished = true
            buffer.removeAll()
            defer { waiters = [] }
            return waiters
        }
    }
}
