import Locking
import Synchronization
import Testing

@testable import Reachability

/// A subscriber that records violations of the contract: overlapping calls, a gap, a repetition, a wrong first change.
final class Witness: Sendable {
    private struct State {
        var last: UInt64 = 0
        var count = 0
        var complaints: [String] = []
    }

    private let state = Lock(State())
    private let inside = Atomic<Int>(0)
    private let numbers = Collector<UInt64>(keepingNewest: true)

    /// The fault that was found.
    var complaints: [String] { state.withLock(\.complaints) }
    /// The last change's number.
    var last: UInt64 { state.withLock(\.last) }
    /// The number of changes received.
    var count: Int { state.withLock(\.count) }

    /// Receives a change.
    func hear(_ change: ReachabilityChange) {
        let calls = inside.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
        state.withLock { state in
            if calls != 1 { state.complaints.append("two calls at once at \(change.sequence)") }
            if let complaint = complaint(about: change, after: state) { state.complaints.append(complaint) }
            state.last = change.sequence
            state.count += 1
        }
        numbers.append(change.sequence)
        inside.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }

    /// Waits for a change.
    func wait(for number: UInt64) async throws {
        try await numbers.wait { $0.last == number }
    }

    private func complaint(about change: ReachabilityChange, after state: State) -> String? {
        if state.count == 0 {
            return change.event == .state && change.previous == nil ? nil : "began with \(change)"
        }
        return change.sequence == state.last + 1 && change.event == .change
            ? nil : "\(change.sequence) \(change.event) after \(state.last)"
    }
}
