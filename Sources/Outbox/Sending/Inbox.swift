import Locking

/// A queue whose elements are taken together by one task, which is started for the first.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        /// Whether a task takes the elements, or is about to.
        var isAttended = false
    }

    private let state = Lock(State())

    /// Adds an element.
    ///
    /// - Returns: Whether the caller has to start the task.
    func add(_ element: Element) -> Bool {
        state.withLock { state in
            defer { state.isAttended = true }
            state.elements.append(element)
            return !state.isAttended
        }
    }

    /// Takes all elements, in the order in which they were added.
    func take() -> [Element] {
        state.withLock { state in
            var elements: [Element] = []
            swap(&elements, &state.elements)
            return elements
        }
    }

    /// Ends the work of the task, if there are no elements: the next one starts another task.
    ///
    /// - Returns: Whether the task ends.
    func leave() -> Bool {
        state.withLock { state in
            state.isAttended = !state.elements.isEmpty
            return !state.isAttended
        }
    }
}
