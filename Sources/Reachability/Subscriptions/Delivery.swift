/// Where a subscriber's closure is called.
///
/// ```swift
/// monitor.subscribe(deliverOn: .actor(MainActor.shared)) { change in … }
/// monitor.subscribe(deliverOn: .custom { job in queue.async { job() } }) { change in … }   // a Dispatch queue
/// ```
///
/// Wherever that is, the closure is never called twice at once and never out of order.
public struct Delivery: Sendable {
    /// Runs the task of a subscription where its closure is to be called.
    typealias Launch = @Sendable (@escaping @Sendable () async -> Void) -> Void

    enum Kind: Sendable {
        case immediate
        case helperThread
        case custom(@Sendable (@escaping @Sendable () -> Void) -> Void)
        case task(Launch)
    }

    let kind: Kind

    /// On a thread of the monitor's own, where the closure may block: the default.
    ///
    /// A closure that blocks delays no other subscriber; each that is being called has a thread to itself.
    public static let serial = Self(kind: .helperThread)

    /// On the event thread, as soon as the kernel has spoken: for those who must be fastest.
    ///
    /// The closure **must not block**: until it returns, the monitor hears nothing and tells nobody anything. It costs
    /// no allocation and no hand-over to another thread. It may subscribe, cancel, and stop the monitor.
    public static let immediate = Self(kind: .immediate)

    /// On an actor's executor, as code that is isolated to the actor runs.
    ///
    /// - Parameter actor: The actor, such as `MainActor.shared`; kept until the subscription ends.
    /// - Returns: That place.
    public static func actor(_ actor: any Actor) -> Self {
        .init(kind: .task { body in Task.detached { await run(body, on: actor) } })
    }

    /// On a serial executor.
    ///
    /// - Parameter executor: The executor; kept until the subscription ends.
    /// - Returns: That place.
    public static func serialExecutor(_ executor: any SerialExecutor) -> Self {
        .actor(ExecutorActor(executor))
    }

    /// On a task executor, which may have many threads; the closure is called on one of them at a time.
    ///
    /// - Parameter executor: The executor; kept until the subscription ends.
    /// - Returns: That place.
    public static func taskExecutor(_ executor: any TaskExecutor) -> Self {
        .init(kind: .task { body in Task.detached(executorPreference: executor) { await body() } })
    }

    /// Where a closure brings it: a Dispatch queue, a run loop, an event loop of another library.
    ///
    /// - Parameter enqueue: Given a job, sees to it that the job is run once, soon, on any thread; it must not block,
    ///   and is called on the event thread. A job that is never run stops the subscription for good.
    /// - Returns: That place.
    public static func custom(
        _ enqueue: @escaping @Sendable (_ job: @escaping @Sendable () -> Void) -> Void
    ) -> Self {
        .init(kind: .custom(enqueue))
    }

    private static func run(_ body: @Sendable () async -> Void, on actor: isolated any Actor) async {
        await body()
    }
}

/// Gives a serial executor an actor that runs on it.
private actor ExecutorActor {
    private nonisolated let executor: any SerialExecutor

    init(_ executor: any SerialExecutor) {
        self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
