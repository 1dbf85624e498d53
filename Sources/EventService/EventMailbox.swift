import Locking

/// The events that wait for one task, which takes them in order.
///
/// A task that takes nothing for long loses events to one gap, as a slow reader of the service does.
final class EventMailbox: Sendable {
    private struct State {
        var events: [NetwatchEvent] = []
        /// The last event that was taken, or that the first one that waits follows.
        var last: NetwatchEvent.ID?
        var waiter: CheckedContinuation<NetwatchEvent?, Never>?
        var isCancelled = false
    }

    private let state = Lock(State())
    /// The number of events that wait for a task.
    static let capacity = 1024

    /// Adds an event.
    func put(_ event: NetwatchEvent) {
        let waiter = state.withLock { state -> CheckedContinuation<NetwatchEvent?, Never>? in
            guard let waiter = state.waiter else {
                Self.add(event, to: &state)
                return nil
            }
            (state.waiter, state.last) = (nil, event.id)
            return waiter
        }
        waiter?.resume(returning: event)
    }

    private static func add(_ event: NetwatchEvent, to state: inout State) {
        guard state.events.count >= capacity else { return state.events.append(event) }
        let gaps = (state.events + [event]).compactMap(\.gap)
        // The number of a gap before a state counts the event of that state, too.
        let states = state.events.count { $0.gap != nil && $0.change.event == .state }
        let missed = gaps.reduce(UInt64(state.events.count - states)) { $0 + ($1.missed ?? 0) }
        let isCountable = gaps.allSatisfy { $0.missed != nil }
        let gap = NetwatchEvent.Gap(from: state.last, missed: isCountable ? missed : nil, reason: "slow")
        state.events = [.init(id: event.id, change: event.change, gap: gap, validation: event.validation)]
    }

    /// Takes the next event, as soon as there is one; nil if the task is cancelled.
    func next() async -> NetwatchEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> NetwatchEvent?? in
                    if state.isCancelled { return .some(nil) }
                    if !state.events.isEmpty {
                        let event = state.events.removeFirst()
                        state.last = event.id
                        return event
                    }
                    state.waiter = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }
            waiter?.resume(returning: nil)
        }
    }
}
