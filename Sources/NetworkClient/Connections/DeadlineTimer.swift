import NIOCore
import NetworkClientCore
import ReachabilityCore

/// An object with deadlines: a connection or an exchange.
protocol DeadlineOwner: AnyObject {
    /// Called when a deadline has passed; it has been cleared.
    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline)
}

/// The one timer for all deadlines of a connection or an exchange; confined to its event loop.
///
/// A timer that fires too early is cheap: it checks the deadlines and is scheduled again. So a request on a reused
/// connection schedules none.
///
/// While it is scheduled, it keeps its owner alive. The reference to the owner is not weak, because weak references
/// slow down each retain and release of the object.
final class DeadlineTimer {
    /// The deadlines; call ``schedule(at:)`` after a change.
    var deadlines = Deadlines()
    /// Whether deadlines are ignored, for example while the user has paused the request.
    var isSuspended = false
    private let loop: any EventLoop
    private var timer: Scheduled<Void>?
    private var timerDue = Int64.max
    private unowned let owner: any DeadlineOwner

    init(_ owner: any DeadlineOwner, _ loop: any EventLoop) {
        self.owner = owner
        self.loop = loop
    }

    /// Sets a deadline to a time after now; nil clears it.
    func set(_ kind: Deadlines.Kind, after limit: Duration?, from now: NIODeadline) {
        deadlines[kind] = limit.map { Instant(now).advanced(by: $0) }
    }

    /// Ensures that the timer fires no later than the next deadline.
    func schedule(at now: NIODeadline) {
        guard !isSuspended, let next = deadlines.next, next.nanoseconds < timerDue else { return }
        timer?.cancel()
        timerDue = next.nanoseconds
        let delay = TimeAmount.nanoseconds(max(0, next.nanoseconds - Instant(now).nanoseconds))
        timer = loop.assumeIsolated().scheduleTask(in: delay) { [self, owner] in fire(owner) }
    }

    /// Clears all deadlines and the timer.
    func cancel() {
        deadlines.clear()
        isSuspended = false
        timer?.cancel()
        timer = nil
        timerDue = .max
    }

    private func fire(_ owner: any DeadlineOwner) {
        timerDue = .max
        timer = nil
        guard !isSuspended else { return }
        let now = NIODeadline.now()
        if let kind = deadlines.expired(at: Instant(now)) {
            deadlines[kind] = nil
            owner.deadlinePassed(kind, at: now)
        }
        schedule(at: now)
    }
}

extension Instant {
    /// A time of NIO's clock, which is the same monotonic clock.
    init(_ deadline: NIODeadline) {
        self.init(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    }
}
