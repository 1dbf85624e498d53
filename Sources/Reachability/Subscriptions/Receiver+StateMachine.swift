extension Receiver {
    /// Decides, for one subscriber, who calls it next: never two at once, never out of order, never after its end.
    struct StateMachine: Sendable {
        /// Where the subscriber is.
        private enum Phase: Sendable {
            /// Nobody calls it, nothing waits.
            case idle
            /// A job that will call it is on its way.
            case scheduled
            /// It is being called.
            case running
            /// Its subscription ended.
            case ended
        }

        private var phase = Phase.idle
        private var backlog: Backlog<Element>
        /// The newest notice's place in the order; what comes after a newer one is dropped.
        private var newest: UInt64 = 0

        /// Makes a machine that keeps a number of notices.
        init(limit: Int) {
            backlog = .init(limit: limit)
        }

        /// Takes a notice for a subscriber that is called elsewhere; returns whether to bring a job on its way.
        mutating func enqueue(_ element: Element, ticket: UInt64) -> Bool {
            guard accept(ticket) else { return false }
            backlog.push(element)
            guard phase == .idle else { return false }
            phase = .scheduled
            return true
        }

        /// Takes a notice for a subscriber that is called by the thread that brings it; returns what to call it with.
        ///
        /// Nil if another thread is calling it, which then asks for this one with ``next()``.
        mutating func call(_ element: Element, ticket: UInt64) -> Element? {
            guard accept(ticket) else { return nil }
            guard phase == .idle else {
                backlog.push(element)
                return nil
            }
            phase = .running
            return backlog.begin(with: element)
        }

        /// The job has come: what to call the subscriber with.
        mutating func begin() -> Element? {
            guard phase == .scheduled else { return nil }
            phase = .running
            return next()
        }

        /// The call is over: what to call with next, by the same thread.
        mutating func next() -> Element? {
            guard phase == .running else { return nil }
            if let element = backlog.pop() { return element }
            phase = .idle
            return nil
        }

        /// The call is over: whether to bring another job on its way.
        mutating func finish() -> Bool {
            guard phase == .running else { return false }
            phase = backlog.isEmpty ? .idle : .scheduled
            return phase == .scheduled
        }

        /// Ends all calls; the one that is being made is the last.
        mutating func end() {
            phase = .ended
            backlog.removeAll()
        }

        private mutating func accept(_ ticket: UInt64) -> Bool {
            guard phase != .ended, ticket > newest else { return false }
            newest = ticket
            return true
        }
    }
}
