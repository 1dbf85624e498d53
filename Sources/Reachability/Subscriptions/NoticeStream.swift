import Locking

/// The notices of one subscription, for one task that asks for them.
final class NoticeStream<Element: Notice>: Sendable {
    private let machine: Lock<StateMachine>

    /// Makes an empty stream that keeps the newest notices, and forgets older ones.
    init(limit: Int) {
        machine = .init(.init(limit: limit))
    }

    /// Brings the newest notice, and wakes the task that waits for it.
    func push(_ element: Element) {
        machine.withLock { $0.push(element) }?.resume()
    }

    /// Whether the stream has ended: what was taken from it before is not to be delivered any more.
    var isFinished: Bool { machine.withLock(\.isFinished) }

    /// Ends the stream: whoever asks is told that there is nothing more.
    func finish() {
        for waiter in machine.withLock({ $0.finish() }) { waiter.resume() }
    }

    /// Waits for a notice, on the caller's executor; nil at the end, and when the task is cancelled, which ends it.
    func next() async -> Element? {
        await withTaskCancellationHandler {
            while true {
                switch machine.withLock({ $0.take() }) {
                case .take(let element): return element
                case .wait: await wait()
                }
            }
        } onCancel: {
            finish()
        }
    }

    private func wait() async {
        await withUnsafeContinuation { waiter in
            if machine.withLock({ $0.wait(waiter) }) { waiter.resume() }
        }
    }
}
