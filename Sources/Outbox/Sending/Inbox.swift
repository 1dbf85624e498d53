import Locking

/// A queue whose elements are taken together by one task, which is started for the first.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Whether a task takes the elements, or is about to.
        var isAttended = false

        mutating func attend() -> Bool {
            defer { isAttended = true }
            return !isAttended
        }
    }

    private let state = Lock(State())

    /// Adds an element.
    ///
    /// - Returns: Whether the caller has to start the task.
    func add(_ element: Element) -> Bool {
        state.withLock { state in
            state.elements.append(element)
            return state.attend()
        }
    }

    /// Returns whether the caller has to start the task, which has other work than elements.
    func attend() -> Bool { state.withLock { $0.attend() } }

    /// Takes all elements, in the order in which they were added.
    func take() -> [Element] {
        state.withLock { state in
            var elements: [Element] = []
            swap(&elements, &state.elements)
            return elements
        }
    }

    /// Returns whether the task may end: there are no elements, and the next one starts another task.
    func leave() -> Bool {
        state.withLock { state in
            state.isAttended = !state.elements.isEmpty
            return !state.isAttended
        }
    }
}
