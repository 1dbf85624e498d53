public import ReachabilityCore
import Synchronization

extension ReachabilityMonitor {
    /// Calls a closure with the way to an address, and then whenever it is another.
    ///
    /// Changes of every route that could lead to the address are heard, of specific ones too, and of nothing else: a
    /// machine with a full routing table pays no more for it. What ``subscribe(deliverOn:bufferingNewest:_:)`` promises
    /// of order and delivery holds here too.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - delivery: Where the closure is called; by default on a thread of the monitor's own.
    ///   - limit: How many paths wait while the closure is busy; the oldest are forgotten beyond. At least 1.
    ///   - handler: What to do with a path. It keeps what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribe(
        to destination: IPAddress,
        deliverOn delivery: Delivery = .serial,
        bufferingNewest limit: Int = 16,
        _ handler: @escaping @Sendable (_ path: DestinationPath) -> Void
    ) -> Subscription {
        let (receiver, end) = delivery.receive(limit: limit, threads: threads, handler)
        return watch(destination, receiver, end: end)
    }

    /// The way to an address and then every other one, for `for await`; keeps the newest one for a slow task.
    public func changes(to destination: IPAddress) -> ChangeSequence<DestinationPath> {
        .init(limit: 1) { push in
            let receiver = Receiver(.anyThread, limit: 1, handler: push)
            return self.watch(destination, receiver) { receiver.end() }
        }
    }

    private func watch(
        _ destination: IPAddress,
        _ receiver: Receiver<DestinationPath>,
        end: @escaping @Sendable () -> Void
    ) -> Subscription {
        let tickets = Tickets()
        let watch = source.watch(destination) { receiver.offer($0, ticket: tickets.next()) }
        return Subscription { [self] in
            end()
            watch.cancel()
            withExtendedLifetime(self) {}
        }
    }
}

/// Numbers from 1 on.
private final class Tickets: Sendable {
    private let last = Atomic<UInt64>(0)

    func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
