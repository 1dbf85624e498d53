import LinuxSystem
import Locking
import Testing

@testable import Reachability

/// Collects the arguments of closures, and resumes the tests that wait for them.
final class Collector<Element: Sendable>: Sendable {
    private struct Waiter {
        let isMet: @Sendable ([Element]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var elements: [Element] = []
        var waiters: [Int: Waiter] = [:]
        var nextID = 0
    }

    private let state = Lock(State())
    private let keepsNewest: Bool

    /// Makes an empty collector; one that keeps the newest element drops the others.
    init(keepingNewest: Bool = false) {
        keepsNewest = keepingNewest
    }

    /// The values received so far.
    var elements: [Element] { state.withLock(\.elements) }

    /// Adds a value.
    func append(_ element: Element) {
        let met = state.withLock { state in
            if keepsNewest { state.elements.removeAll(keepingCapacity: true) }
            state.elements.append(element)
            let met = state.waiters.filter { $0.value.isMet(state.elements) }
            for id in met.keys { state.waiters[id] = nil }
            return met.values.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until the values meet a condition, for 30 s at most, and returns them.
    @discardableResult
    func wait(
        _ sourceLocation: SourceLocation = #_sourceLocation,
        until isMet: @escaping @Sendable ([Element]) -> Bool
    ) async throws -> [Element] {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let met: Void? = try await withDeadline(.seconds(120)) {
            await withTaskCancellationHandler {
                await self.suspend(id, until: isMet)
            } onCancel: {
                self.state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
            }
        }
        #expect(met != nil, "came instead: \(elements)", sourceLocation: sourceLocation)
        return elements
    }

    /// Waits for a number of values.
    @discardableResult
    func wait(
        count: Int,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Element] {
        try await wait(sourceLocation) { $0.count >= count }
    }

    private func suspend(_ id: Int, until isMet: @escaping @Sendable ([Element]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if Task.isCancelled || isMet(state.elements) { return true }
                state.waiters[id] = .init(isMet: isMet, continuation: continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
