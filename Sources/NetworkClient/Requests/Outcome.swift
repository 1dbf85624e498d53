/// How a request ended, and who waits to hear it: each is told once.
struct Outcome: Sendable {
    typealias Ending = Result<DataResponse, HTTPError>
    typealias Waiter = @Sendable (Ending) -> Void

    private(set) var ending: Ending?
    // Nearly always there is one task that waits: it needs no list.
    private var continuation: UnsafeContinuation<Ending, Never>?
    private var others: [Waiter] = []

    /// Lets a task wait.
    ///
    /// - Returns: The ending if it is there already: the continuation is then the caller's to resume.
    mutating func await(_ waiting: UnsafeContinuation<Ending, Never>) -> Ending? {
        if let ending { return ending }
        if continuation == nil {
            continuation = waiting
        } else {
            others.append { waiting.resume(returning: $0) }
        }
        return nil
    }

    /// Lets a closure wait.
    ///
    /// - Returns: The ending if it is there already: the closure is then the caller's to call.
    mutating func call(_ waiter: @escaping Waiter) -> Ending? {
        if let ending { return ending }
        others.append(waiter)
        return nil
    }

    /// Sets the ending.
    ///
    /// - Returns: Who is to be told; nil if it had ended before.
    mutating func end(_ ending: Ending) -> Waiters? {
        guard self.ending == nil else { return nil }
        self.ending = ending
        defer {
            continuation = nil
            others = []
        }
        return .init(continuation: continuation, others: others)
    }

    /// Who is to be told, outside of any lock.
    struct Waiters: Sendable {
        let continuation: UnsafeContinuation<Ending, Never>?
        let others: [Waiter]

        func tell(_ ending: Ending) {
            continuation?.resume(returning: ending)
            for other in others { other(ending) }
        }
    }
}
