public import ReachabilityCore

extension ReachabilityMonitor {
    /// Calls a closure with the current state, and then with every change.
    ///
    /// ```swift
    /// let subscription = monitor.subscribe { change in
    ///     if change.status.isReachable { uploader.resume() } else { uploader.pause() }
    /// }
    /// ```
    ///
    /// The first notice says what is so now; it comes as soon as the monitor knows, at once if it knows already. Every
    /// change follows in order. The closure is never called twice at once, nor on the thread that cancelled after
    /// ``Subscription/cancel()`` has returned. A closure that is slow delays nobody; it may miss what came between,
    /// never the last.
    ///
    /// - Parameters:
    ///   - delivery: Where the closure is called; by default on a thread of the monitor's own.
    ///   - limit: How many notices wait while the closure is busy; the oldest are forgotten beyond. At least 1.
    ///   - handler: What to do with a notice. It keeps what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribe(
        deliverOn delivery: Delivery = .serial,
        bufferingNewest limit: Int = 16,
        _ handler: @escaping @Sendable (_ change: StateChange) -> Void
    ) -> Subscription {
        let (receiver, end) = delivery.receive(limit: limit, threads: threads, handler)
        return add(receiver, end: end)
    }

    /// The current state and then every change, for `for await`; keeps the newest one for a slow task.
    public var changes: ChangeSequence<StateChange> { changes(bufferingNewest: 1) }

    /// The current state and then every change, for `for await`.
    ///
    /// - Parameter limit: How many notices wait for a slow task; the oldest are forgotten beyond. At least 1.
    /// - Returns: The sequence; each iterator of it is a subscription.
    public func changes(bufferingNewest limit: Int) -> ChangeSequence<StateChange> {
        .init(limit: limit) { push in
            let receiver = Receiver(.anyThread, limit: limit, handler: push)
            return self.add(receiver) { receiver.end() }
        }
    }

    private func add(_ receiver: Receiver<StateChange>, end: @escaping @Sendable () -> Void) -> Subscription {
        broadcaster.add(receiver) { source.perform($0) }
        return Subscription { [self] in
            end()
            broadcaster.remove(receiver)
        }
    }
}
