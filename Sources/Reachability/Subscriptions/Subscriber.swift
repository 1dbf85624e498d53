import LinuxSystem
import Locking
import ReachabilityCore

/// A value that subscribers receive, and that can be the first that one of them receives.
protocol Update: Sendable {
    /// The same update as a baseline: the current state, without the one before.
    var asBaseline: Self { get }
}

extension ReachabilityChange: Update {
    /// The state after this change, for a subscriber that did not receive those before.
    ///
    /// The reasons of `unknown` stay; the causes of another state do not concern a subscriber that begins with it.
    var asBaseline: Self {
        guard event != .state || previous != nil else { return self }
        var baseline = self
        baseline.event = .state
        baseline.previous = nil
        if status != .unknown { baseline.reasons = [.initial] }
        return baseline
    }
}

extension DestinationPath: Update {
    /// A path says nothing about the one before.
    var asBaseline: Self { self }
}

extension HostPath: Update {
    /// Paths say nothing about those before.
    var asBaseline: Self { self }
}

/// One subscriber: its closure, the updates that wait for it, and the place where it is called.
final class Subscriber<Element: Update>: Sendable {
    /// Where a subscriber is called.
    enum Place: Sendable {
        /// On the event thread: by what is published there.
        case eventThread
        /// On the thread that brings the update, the subscribing one included.
        case anyThread
        /// On a thread of the pool, which it has for itself for as long as updates wait.
        case pool(ThreadPool)
        /// Where this closure runs the jobs that it is given, one for each update.
        case custom(@Sendable (@escaping @Sendable () -> Void) -> Void)
    }

    /// Where it is called.
    let place: Place
    private let machine: Lock<StateMachine>
    private let handler: @Sendable (Element) -> Void

    /// Creates a subscriber.
    ///
    /// - Parameters:
    ///   - place: Where it is called.
    ///   - limit: The number of updates that wait for it; older ones are dropped. At least 1.
    ///   - handler: The subscriber's closure.
    init(_ place: Place, limit: Int, handler: @escaping @Sendable (Element) -> Void) {
        self.place = place
        machine = .init(.init(limit: limit))
        self.handler = handler
    }

    /// Brings an update; the closure is called by this thread, or a job for it is enqueued.
    ///
    /// - Parameters:
    ///   - element: The update.
    ///   - ticket: Its place in the order of updates, from 1; an older one that comes late is dropped.
    func offer(_ element: Element, ticket: UInt64) {
        switch place {
        case .pool(let threads):
            if machine.withLock({ $0.enqueue(element, ticket: ticket) }) { threads.enqueue { self.runAll() } }
        case .custom(let enqueue):
            if machine.withLock({ $0.enqueue(element, ticket: ticket) }) { schedule(enqueue) }
        case .eventThread, .anyThread:
            guard let first = machine.withLock({ $0.call(element, ticket: ticket) }) else { return }
            call(first)
        }
    }

    /// Puts the first update in place, for ``start(_:)`` to deliver; what is offered meanwhile waits behind it.
    func prime(_ element: Element, ticket: UInt64) {
        _ = machine.withLock { $0.enqueue(element, ticket: ticket) }
    }

    /// Delivers the update of ``prime(_:ticket:)``.
    ///
    /// - Parameter onEventThread: Runs a job on the event thread, and returns whether there is one.
    func start(_ onEventThread: (@escaping @Sendable () -> Void) -> Bool) {
        switch place {
        case .pool(let threads): threads.enqueue { self.runAll() }
        case .custom(let enqueue): schedule(enqueue)
        case .anyThread: runAll()
        case .eventThread:
            if !onEventThread({ self.runAll() }) { runAll() }
        }
    }

    /// Ends all calls: on the thread that calls this, none comes after it.
    func end() { machine.withLock { $0.end() } }

    private func schedule(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        enqueue { self.runOne(enqueue) }
    }

    /// Calls once, and lets others have the executor before the next call.
    private func runOne(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        guard let element = machine.withLock({ $0.begin() }) else { return }
        handler(element)
        if machine.withLock({ $0.finish() }) { schedule(enqueue) }
    }

    /// Calls until no update waits.
    private func runAll() {
        guard let element = machine.withLock({ $0.begin() }) else { return }
        call(element)
    }

    private func call(_ element: Element) {
        handler(element)
        while let next = machine.withLock({ $0.next() }) { handler(next) }
    }
}

extension Subscriber {
    /// Decides which thread calls a subscriber next: calls never overlap, are in order, and none follows the end.
    struct StateMachine: Sendable {
        private enum Phase: Sendable {
            /// It is not being called, and no update waits.
            case idle
            /// A job that will call it was enqueued.
            case scheduled
            /// It is being called.
            case running
            /// Its subscription has ended.
            case ended
        }

        private var phase = Phase.idle
        private var buffer: UpdateBuffer<Element>
        /// The newest update's place in the order; older ones are dropped.
        private var newest: UInt64 = 0

        /// Creates a machine that keeps a number of updates.
        init(limit: Int) { buffer = .init(limit: limit) }

        /// Takes an update for a subscriber that is called on another executor.
        ///
        /// - Returns: Whether to enqueue a job.
        mutating func enqueue(_ element: Element, ticket: UInt64) -> Bool {
            guard accept(ticket) else { return false }
            buffer.push(element)
            guard phase == .idle else { return false }
            phase = .scheduled
            return true
        }

        /// Takes an update for a subscriber that is called by the thread that brings it.
        ///
        /// - Returns: What to call it with; nil if another thread is calling it, which takes the update by ``next()``.
        mutating func call(_ element: Element, ticket: UInt64) -> Element? {
            guard accept(ticket) else { return nil }
            guard phase == .idle else {
                buffer.push(element)
                return nil
            }
            phase = .running
            return buffer.begin(with: element)
        }

        /// Begins a job; returns what to call the subscriber with.
        mutating func begin() -> Element? {
            guard phase == .scheduled else { return nil }
            phase = .running
            return next()
        }

        /// Ends a call; returns what the same thread is to call with next.
        mutating func next() -> Element? {
            guard phase == .running else { return nil }
            if let element = buffer.pop() { return element }
            phase = .idle
            return nil
        }

        /// Ends a call; returns whether to enqueue another job.
        mutating func finish() -> Bool {
            guard phase == .running else { return false }
            phase = buffer.isEmpty ? .idle : .scheduled
            return phase == .scheduled
        }

        /// Ends all calls; the one under way is the last.
        mutating func end() {
            phase = .ended
            buffer.removeAll()
        }

        private mutating func accept(_ ticket: UInt64) -> Bool {
            guard phase != .ended, ticket > newest else { return false }
            newest = ticket
            return true
        }
    }
}

/// The newest updates that one subscriber has not taken yet, oldest first.
///
/// Whatever a slow subscriber misses, the first update that it takes is a baseline, and the last one is the last.
struct UpdateBuffer<Element: Update>: Sendable {
    /// The number of updates that are kept; at least 1.
    let limit: Int
    private var elements: [Element] = []
    /// The oldest update's position; those before it were taken or dropped.
    private var head = 0
    private var hasBegun = false

    /// Creates an empty buffer.
    init(limit: Int) { self.limit = max(1, limit) }

    /// Whether no update waits.
    var isEmpty: Bool { head == elements.count }

    /// Adds the newest update, and drops the oldest if there are too many.
    mutating func push(_ element: Element) {
        if elements.count - head >= limit { dropFirst() }
        elements.append(element)
    }

    /// Takes the oldest update.
    mutating func pop() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        dropFirst()
        return begin(with: element)
    }

    /// Skips the oldest update; skipped ones are removed once they are most of the array, so that a long buffer is not
    /// moved for each update and a short one never allocates.
    private mutating func dropFirst() {
        head += 1
        guard head * 2 > elements.count else { return }
        elements.removeFirst(head)
        head = 0
    }

    /// The form in which the subscriber receives an update that never waited.
    mutating func begin(with element: Element) -> Element {
        if hasBegun { return element }
        hasBegun = true
        return element.asBaseline
    }

    /// Drops all updates.
    mutating func removeAll() {
        elements = []
        head = 0
    }
}
