import CommandLineSupport
import NetwatchCore
import ReachabilityCore
import Synchronization

/// Prints notices on stdout as they come, on the event thread, until that fails or is closed.
///
/// `@unchecked Sendable`: the line is touched by ``print(_:)`` alone, which the event thread alone calls; the rest is
/// made for several threads.
final class ChangePrinter: @unchecked Sendable {
    /// In memory of its own: each access to a class's variable would be checked for exclusivity.
    private let line: UnsafeMutablePointer<ChangeLine>
    private let isOpen = Atomic(true)
    private let failed = Mutex<OutputFailure?>(nil)

    init(_ format: ChangeFormat) {
        line = .allocate(capacity: 1)
        line.initialize(to: .init(format))
    }

    deinit {
        line.deinitialize(count: 1)
        line.deallocate()
    }

    /// Why nothing is printed any more, if that is why.
    var failure: OutputFailure? { failed.withLock { $0 } }

    /// Prints nothing any more: what the monitor says when it is stopped is no news of the network.
    func close() { isOpen.store(false, ordering: .releasing) }

    /// Prints a notice that came at a time; false if that failed, now or before.
    func print(_ change: StateChange, at time: Timestamp) -> Bool {
        guard isOpen.load(ordering: .acquiring) else { return failure == nil }
        line.pointee.set(change, at: time)
        do throws(OutputFailure) {
            try line.pointee.write(to: .standard)
            return true
        } catch {
            failed.withLock { $0 = error }
            close()
            return false
        }
    }
}
