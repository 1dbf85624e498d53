import LinuxSystem

/// Where a subscriber's closure is called.
///
/// ```swift
/// monitor.subscribe(on: .actor(MainActor.shared)) { change in … }
/// monitor.subscribe(on: .custom { job in queue.async { job() } }) { change in … }   // a Dispatch queue
/// ```
///
/// With each delivery, calls never overlap and keep their order.
public struct Delivery: Sendable {
    private enum Kind: Sendable {
        case immediate
        case serial
        case custom(@Sendable (@escaping @Sendable () -> Void) -> Void)
        case actor(any Actor)
    }

    private let kind: Kind

    /// On a thread of the monitor's own, where the closure may block: the default.
    ///
    /// A closure that blocks delays no other subscriber; each that is being called has a thread to itself.
    public static let serial = Self(kind: .serial)

    /// On the event thread, as soon as the kernel's message was evaluated: the fastest delivery.
    ///
    /// The closure **must not block**: until it returns, the monitor receives nothing and calls no closure. It costs
    /// no allocation and no change of threads. It may subscribe, cancel, and stop the monitor.
    public static let immediate = Self(kind: .immediate)

    /// On an actor's executor, as code that is isolated to the actor runs.
    ///
    /// - Parameter actor: The actor, such as `MainActor.shared`; kept until the subscription ends.
    /// - Returns: The delivery.
    public static func actor(_ actor: any Actor) -> Self { .init(kind: .actor(actor)) }

    /// Where a closure runs it: a Dispatch queue, a run loop, an event loop of another library, an executor.
    ///
    /// - Parameter enqueue: Given a job, sees to it that the job is run once, soon, on any thread; it must not block,
    ///   and is called on the event thread. A job that is never run stops the subscription for good.
    /// - Returns: The delivery.
    public static func custom(_ enqueue: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void) -> Self {
        .init(kind: .custom(enqueue))
    }
}

extension Delivery {
    /// Creates the subscriber that calls a closure there.
    ///
    /// - Parameters:
    ///   - limit: The number of updates that wait while the closure is busy; at least 1.
    ///   - threads: The monitor's own threads.
    ///   - handler: The subscriber's closure.
    /// - Returns: The subscriber, and the closure that ends its calls.
    func makeSubscriber<Element: Update>(
        limit: Int,
        threads: ThreadPool,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (subscriber: Subscriber<Element>, end: @Sendable () -> Void) {
        switch kind {
        case .immediate: Self.makeSubscriber(.eventThread, limit, handler)
        case .serial: Self.makeSubscriber(.pool(threads), limit, handler)
        case .custom(let enqueue): Self.makeSubscriber(.custom(enqueue), limit, handler)
        case .actor(let actor): Self.makeSubscriber(on: actor, limit, handler)
        }
    }

    private static func makeSubscriber<Element: Update>(
        _ place: Subscriber<Element>.Place,
        _ limit: Int,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (subscriber: Subscriber<Element>, end: @Sendable () -> Void) {
        let subscriber = Subscriber(place, limit: limit, handler: handler)
        return (subscriber, { subscriber.end() })
    }

    /// A task that lives on the actor's executor takes the updates from a stream: waking it is one change of threads.
    private static func makeSubscriber<Element: Update>(
        on actor: any Actor,
        _ limit: Int,
        _ handler: @escaping @Sendable (Element) -> Void
    ) -> (subscriber: Subscriber<Element>, end: @Sendable () -> Void) {
        let stream = UpdateStream<Element>(limit: limit)
        Task.detached { await deliver(stream, to: handler, on: actor) }
        let (subscriber, end) = makeSubscriber(.anyThread, limit) { stream.push($0) }
        return (
            subscriber,
            {
                end()
                stream.finish()
            }
        )
    }

    private static func deliver<Element: Update>(
        _ stream: UpdateStream<Element>,
        to handler: @Sendable (Element) -> Void,
        on actor: isolated any Actor
    ) async {
        // Between the stream and the executor, other code on the executor may have ended the subscription.
        while let element = await stream.next(), !stream.isFinished { handler(element) }
    }
}
