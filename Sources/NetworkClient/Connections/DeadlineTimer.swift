import NIOCore
import NetworkClientCore
import ReachabilityCore

/// One timer for all deadlines of a connection or an exchange; confined to its event loop.
///
/// A timer that fires too early is cheap: it looks, and is set again. So a request on a kept connection sets none.
final class DeadlineTimer {
    /// The deadlines; after a change, ``schedule(at:)`` sees to the timer.
    var deadlines = Deadlines()
    /// Whether no deadline is looked at, as while the user has paused the request.
    var isSuspended = false
    private let loop: any EventLoop
    private var timer: Scheduled<Void>?
    private var timerDue = Int64.max
    /// Called with a deadline that has passed, which is cleared.
    private var onExpiry: ((Deadlines.Kind, NIODeadline) -> Void)?

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Sets what is called with each deadline that has passed.
    func whenExpired(_ body: @escaping (Deadlines.Kind, NIODeadline) -> Void) { onExpiry = body }

    /// Sets a deadline a limit after now; nil clears it.
    func set(_ kind: Deadlines.Kind, after limit: Duration?, from now: NIODeadline) {
        deadlines[kind] = limit.map { Instant(now).advanced(by: $0) }
    }

    /// Sees to it that the timer fires no later than the next deadline.
    func schedule(at now: NIODeadline) {
        guard !isSuspended, let next = deadlines.next, next.nanoseconds < timerDue else { return }
        timer?.cancel()
        timerDue = next.nanoseconds
        let delay = TimeAmount.nanoseconds(max(0, next.nanoseconds - Instant(now).nanoseconds))
        timer = loop.assumeIsolated().scheduleTask(in: delay) { [self] in fire() }
    }

    /// Clears all deadlines and the timer.
    func cancel() {
        deadlines.clear()
        isSuspended = false
        timer?.cancel()
        timer = nil
        timerDue = .max
    }

    private func fire() {
        timerDue = .max
        timer = nil
        guard !isSuspended else { return }
        let now = NIODeadline.now()
        if let kind = deadlines.expired(at: Instant(now)) {
            deadlines[kind] = nil
            onExpiry?(kind, now)
        }
        schedule(at: now)
    }
}

extension Instant {
    /// A moment of NIO's clock, which is the same monotonic one.
    init(_ deadline: NIODeadline) {
        self.init(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    }
}
