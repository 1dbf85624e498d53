import NIOCore
import NetworkClientCore
import ReachabilityCore

/// An object with deadlines: a connection, or an exchange.
protocol DeadlineOwner: AnyObject {
    /// Called when a deadline has passed; it has been cleared.
    func deadlinePassed(_ kind: Deadlines.Kind, at now: NIODeadline)
}

/// The one timer for all deadlines of its owner; confined to the owner's event loop.
///
/// A timer that fires too early is cheap: it checks the deadlines and is scheduled again. So a request on a reused
/// connection schedules none.
///
/// A timer that fires late does not fail what it limits immediately. The event loop runs the timers that are due before
/// it looks at the sockets, so after a time in which the process was stopped, or its thread did not run, the kernel may
/// have received the response in time. Such a timer checks again after the sockets were read.
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
    /// The number of further checks since the timer was late; it is scheduled for the last of them.
    private var furtherChecks = 0
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
        guard !isSuspended, furtherChecks == 0, let next = deadlines.next, next.nanoseconds < timerDue else { return }
        // A deadline that had passed already does not make the timer late.
        schedule(max(next, Instant(now)), at: now)
    }

    private func schedule(_ due: Instant, at now: NIODeadline) {
        timer?.cancel()
        timerDue = due.nanoseconds
        let delay = TimeAmount.nanoseconds(due.nanoseconds - Instant(now).nanoseconds)
        timer = loop.assumeIsolated().scheduleTask(in: delay) { [self, owner] in fire(owner) }
    }

    /// Clears all deadlines and the timer.
    func cancel() {
        deadlines.clear()
        isSuspended = false
        timer?.cancel()
        timer = nil
        timerDue = .max
        furtherChecks = 0
    }

    /// The lateness of the timer from which the event loop may have missed what the kernel has received.
    private static let maximumLateness = Duration.milliseconds(100)
    /// The delay of a further check: longer than the event loop takes for the other timers that are late.
    ///
    /// After these it reads the sockets. If the check is late by as much, it may not have read them. The first check never
    /// counts: the tasks that were queued while the thread did not run may take as long as its delay, and the event loop runs
    /// all of them before it reads the sockets.
    private static let furtherCheckDelay = Duration.milliseconds(10)
    /// The number of further checks after which a deadline counts even if the event loop is always late.
    private static let maximumFurtherChecks = 10

    private func fire(_ owner: any DeadlineOwner) {
        let now = NIODeadline.now()
        let lateness = Instant(nanoseconds: timerDue).duration(to: Instant(now))
        timerDue = .max
        timer = nil
        let expired = isSuspended ? nil : deadlines.expired(at: Instant(now))
        if let expired, mustCheckAgain(expired, lateness) { return checkAgain(at: now) }
        furtherChecks = 0
        if let expired {
            deadlines[expired] = nil
            owner.deadlinePassed(expired, at: now)
        }
        schedule(at: now)
    }

    private func mustCheckAgain(_ kind: Deadlines.Kind, _ lateness: Duration) -> Bool {
        // An idle connection waits for nothing, and must not be used after its time.
        guard kind != .idle, furtherChecks < Self.maximumFurtherChecks else { return false }
        return switch furtherChecks {
        case 0: lateness > Self.maximumLateness
        case 1: true
        default: lateness > Self.furtherCheckDelay
        }
    }

    private func checkAgain(at now: NIODeadline) {
        furtherChecks += 1
        schedule(Instant(now).advanced(by: Self.furtherCheckDelay), at: now)
    }
}

extension Instant {
    /// A time of NIO's clock, which is the same monotonic clock.
    init(_ deadline: NIODeadline) {
        self.init(nanoseconds: Int64(clamping: deadline.uptimeNanoseconds))
    }
}
