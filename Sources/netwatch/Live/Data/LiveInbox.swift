import CommandLineSupport
import NetwatchCore
import Synchronization

/// What other threads have for the live view, in the order in which it came.
final class LiveInbox: Sendable {
    private let inputs = Mutex<[LiveViewInput]>([])
    private let isModelNew = Atomic(false)
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) { self.wakeup = wakeup }

    /// Puts something in, and wakes the main thread.
    func put(_ input: LiveViewInput) {
        inputs.withLock { $0.append(input) }
        wakeup.signal()
    }

    /// Notes that the monitor's model may be another, and wakes the main thread if it does not know yet.
    func noteModel() {
        if !isModelNew.exchange(true, ordering: .acquiringAndReleasing) { wakeup.signal() }
    }

    /// Takes what is there.
    func take() -> [LiveViewInput] {
        inputs.withLock { inputs in
            defer { inputs = [] }
            return inputs
        }
    }

    /// Whether the model may be another; from now on it counts as known.
    func takeModel() -> Bool { isModelNew.exchange(false, ordering: .acquiringAndReleasing) }

    /// Whether the model may be another.
    var hasModel: Bool { isModelNew.load(ordering: .acquiring) }
}
