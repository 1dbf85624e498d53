extension NoticeStream {
    /// Decides, for one stream, whether a notice waits or somebody waits for one.
    struct StateMachine: Sendable {
        /// Somebody who waits for a notice; resumed with nothing, and takes it then.
        typealias Waiter = UnsafeContinuation<Void, Never>

        /// What to do for somebody who asks, after the lock.
        enum Request: Sendable {
            /// Hand over this; nil if the stream is at its end.
            case take(Element?)
            /// Nothing is there: it waits.
            case wait
        }

        private var backlog: Backlog<Element>
        /// Whether the stream has ended.
        private(set) var isFinished = false
        private var waiters: [Waiter] = []

        /// Makes a machine that keeps a number of notices.
        init(limit: Int) {
            backlog = .init(limit: limit)
        }

        /// A notice came; returns who must be woken for it.
        mutating func push(_ element: Element) -> Waiter? {
            guard !isFinished else { return nil }
            backlog.push(element)
            return waiters.isEmpty ? nil : waiters.removeFirst()
        }

        /// Somebody asks for a notice.
        mutating func take() -> Request {
            if isFinished { return .take(nil) }
            return backlog.pop().map { .take($0) } ?? .wait
        }

        /// Somebody waits; returns whether it need not, because something happened since it asked.
        mutating func wait(_ waiter: Waiter) -> Bool {
            guard !isFinished, backlog.isEmpty else { return true }
            waiters.append(waiter)
            return false
        }

        /// The stream ends; returns everybody who must be woken.
        mutating func finish() -> [Waiter] {
            isFinished = true
            backlog.removeAll()
            defer { waiters = [] }
            return waiters
        }
    }
}
