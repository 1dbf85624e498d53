import LinuxSystem
import Locking

/// One subscriber: its closure, what it has not heard yet, and how its calls get where it wants them.
final class Receiver<Element: Notice>: Sendable {
    /// Where a subscriber is called.
    enum Place: Sendable {
        /// On the event thread: by what is published there.
        case eventThread
        /// On whatever thread brings the notice, the subscribing one included.
        case anyThread
        /// On a thread that it has for itself for as long as there is something to hear.
        case helperThread(ThreadPool)
        /// Where this closure brings the jobs that it is given, one for each notice.
        case elsewhere(@Sendable (@escaping @Sendable () -> Void) -> Void)
    }

    /// Where it is called.
    let place: Place
    private let machine: Lock<StateMachine>
    private let handler: @Sendable (Element) -> Void

    /// Makes a subscriber.
    ///
    /// - Parameters:
    ///   - place: Where it is called.
    ///   - limit: How many notices wait for it at most; at least 1.
    ///   - handler: The subscriber's closure.
    init(_ place: Place, limit: Int, handler: @escaping @Sendable (Element) -> Void) {
        self.place = place
        machine = .init(.init(limit: limit))
        self.handler = handler
    }

    /// Brings a notice; the closure is called by this thread, or a job for it is enqueued.
    ///
    /// - Parameters:
    ///   - element: The notice.
    ///   - ticket: Its place in the order of notices, from 1; an older one that comes late is dropped.
    func offer(_ element: Element, ticket: UInt64) {
        switch place {
        case .helperThread(let threads):
            if machine.withLock({ $0.enqueue(element, ticket: ticket) }) { threads.enqueue { self.runAll() } }
        case .elsewhere(let enqueue):
            if machine.withLock({ $0.enqueue(element, ticket: ticket) }) { schedule(enqueue) }
        case .eventThread, .anyThread:
            guard let first = machine.withLock({ $0.call(element, ticket: ticket) }) else { return }
            call(first)
        }
    }

    /// Puts the first notice in place, for ``start(_:)`` to deliver; what is offered meanwhile waits behind it.
    func prime(_ element: Element, ticket: UInt64) {
        _ = machine.withLock { $0.enqueue(element, ticket: ticket) }
    }

    /// Delivers what ``prime(_:ticket:)`` put in place.
    ///
    /// - Parameter onEventThread: Runs a job on the event thread, and says whether there is one.
    func start(_ onEventThread: (@escaping @Sendable () -> Void) -> Bool) {
        switch place {
        case .helperThread(let threads): threads.enqueue { self.runAll() }
        case .elsewhere(let enqueue): schedule(enqueue)
        case .anyThread: runAll()
        case .eventThread:
            if !onEventThread({ self.runAll() }) { runAll() }
        }
    }

    /// Ends all calls: on the thread that calls this, none comes after it.
    func end() {
        machine.withLock { $0.end() }
    }

    private func schedule(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        enqueue { self.runOne(enqueue) }
    }

    /// Calls once and lets others have the executor before the next call.
    private func runOne(_ enqueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        guard let element = machine.withLock({ $0.begin() }) else { return }
        handler(element)
        if machine.withLock({ $0.finish() }) { schedule(enqueue) }
    }

    /// Calls until nothing is left.
    private func runAll() {
        guard let element = machine.withLock({ $0.begin() }) else { return }
        call(element)
    }

    private func call(_ element: Element) {
        handler(element)
        while let next = machine.withLock({ $0.next() }) { handler(next) }
    }
}
