import ReachabilityCore

/// Looks at devices one after the other, on a thread that there is only while there is something to look at.
///
/// The kernel may keep a question waiting for as long as a driver holds the configuration lock: a wait that the event
/// thread must not share, and that nobody waits out who stops a monitor.
final class DeviceInquirer: Sendable {
    private let socket: Lock<DeviceSocket>
    private let queue = Lock<Queue>(.init())

    private struct Queue {
        var waiting: [Item] = []
        var isWorking = false
    }

    /// What is asked, with the sockets to ask by.
    typealias Question = @Sendable (inout DeviceSocket) -> DeviceAnswer

    private struct Item: Sendable {
        let question: Question
        let answer: @Sendable (DeviceAnswer) -> Void
    }

    /// Opens its socket in the calling thread's network namespace.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        socket = .init(try DeviceSocket())
    }

    /// Asks soon, and calls `answer` with what was found, on the inquirer's own thread.
    func ask(_ question: @escaping Question, answer: @escaping @Sendable (DeviceAnswer) -> Void) {
        let starts = queue.withLock { queue in
            queue.waiting.append(.init(question: question, answer: answer))
            defer { queue.isWorking = true }
            return !queue.isWorking
        }
        guard starts else { return }
        // Where the machine has no thread to give, the pool of Swift's tasks must do.
        if !DetachedThread.start("netwatch-probe", work) { Task.detached { self.work() } }
    }

    private func work() {
        while let item = next() { item.answer(socket.withLock { item.question(&$0) }) }
    }

    private func next() -> Item? {
        queue.withLock { queue in
            guard queue.waiting.isEmpty else { return queue.waiting.removeFirst() }
            queue.isWorking = false
            return nil
        }
    }
}
