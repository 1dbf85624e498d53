import NIOCore
import RequestGate

/// What a request has beside others once it does not simply go: its place in the scheduler, and the way it was given.
final class ScheduledRun {
    /// Its number in the scheduler; nil while it went without it.
    var id: RequestScheduler.RequestID?
    /// The present attempt's number.
    var attempt: UInt32 = 1
    /// Its gate in the scheduler.
    var gate: RequestScheduler.GateID?
    /// What its connection is bound to; nil for what the request itself says.
    var binding: LocalBinding?
    /// The addresses that were judged; nil for all that its name has.
    var addresses: [SocketAddress]?
    /// When it must have ended, where pauses have moved that.
    var deadline: NIODeadline?
}
