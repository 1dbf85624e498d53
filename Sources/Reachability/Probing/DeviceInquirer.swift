import LinuxSystem
import Locking
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

    private typealias Item = @Sendable (inout DeviceSocket) -> @Sendable () -> Void

    /// Opens its socket in the calling thread's network namespace.
    ///
    /// - Throws: ``NetlinkError`` if the kernel gives none.
    init() throws(NetlinkError) {
        socket = .init(try DeviceSocket())
    }

    /// Asks soon, and calls `answer` with what was found, on the inquirer's own thread.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (inout DeviceSocket) -> Answer,
        answer: @escaping @Sendable (Answer) -> Void
    ) {
        let item: Item = { socket in
            let found = question(&socket)
            return { answer(found) }
        }
        let starts = queue.withLock { queue in
            queue.waiting.append(item)
            defer { queue.isWorking = true }
            return !queue.isWorking
        }
        guard starts else { return }
        do throws(SystemError) {
            try SystemThread.detach("netwatch-probe", work)
        } catch {
            // Where the machine has no thread to give, the pool of Swift's tasks must do.
            Task.detached { self.work() }
        }
    }

    private func work() {
        while let item = next() {
            let answer = socket.withLock { item(&$0) }
            answer()
        }
    }

    private func next() -> Item? {
        queue.withLock { queue in
            guard queue.waiting.isEmpty else { return queue.waiting.removeFirst() }
            queue.isWorking = false
            return nil
        }
    }
}
