import NIOCore
import NetworkClientCore
import RequestGate

/// The state of one request; confined to the session's event loop.
struct RequestRun {
    /// The states of a request.
    enum State {
        /// It was not started.
        case ready
        /// Its receiver is opening the destination of the response's body.
        case opening(any BodyReceiver)
        /// It waits to be released: for a path, for its next attempt, or for its user to resume it.
        case queued
        /// A stage is completing its head; with the task that does so, if there is one.
        case preparing(StagePreparation, Task<Void, Never>?)
        /// Its body is being checked: whether it can still be read.
        case checking(BodyCheck)
        /// It waits for a connection.
        case pooled(HostConnections)
        /// It is on a connection.
        case exchanging(Exchange)
        /// Its connection has become a WebSocket.
        case upgraded(WebSocketConnection)
        /// It is being sent by the user's transport.
        case carried(Task<Void, Never>)
        /// Its response comes from the cache.
        case delivering(CachedDelivery)
        /// Its response is complete and is being stored.
        case keeping(any BodyReceiver)
        /// Its attempt has ended, and the decision on the next step is pending; with the task that makes it, if there
        /// is one.
        case deciding(Task<Void, Never>?)
        /// Its attempt has ended with or without an error; another one may follow.
        case attemptEnded
        /// It has ended.
        case finished
    }

    /// The current state.
    private(set) var state = State.ready
    /// Whether its user has paused it, in any state.
    private(set) var isPaused = false
    /// The attempts so far.
    var history = AttemptHistory()
    var metrics: RequestMetrics
    /// The timer for its deadline while it has no connection, whose own timer is used afterwards.
    private(set) var timer: Scheduled<Void>?
    /// The state that it needs once it is scheduled, or has a path of its own.
    var scheduled: ScheduledRun?
    /// The state that it needs unless it is a single exchange in memory.
    var extras: RequestExtras?

    init(start: NIODeadline) { metrics = .init(start: start) }

    /// Enters another state, and cancels the timer for the deadline.
    ///
    /// - Precondition: The request has not finished.
    mutating func enter(_ next: State) {
        precondition(!isFinished, "a request that has finished stays so")
        stopWatching()
        state = next
    }

    /// Sets the timer for its deadline, and cancels the previous one.
    mutating func watch(_ timer: Scheduled<Void>?) {
        stopWatching()
        self.timer = timer
    }

    /// Cancels the timer for its deadline.
    mutating func stopWatching() {
        timer?.cancel()
        timer = nil
    }

    /// Records that its user has paused or resumed it.
    mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    /// Queues the request for another attempt after the current one has ended.
    ///
    /// - Parameters:
    ///   - wasProcessed: Whether the attempt may have been processed.
    ///   - isRejected: Whether its status says that it was not processed.
    mutating func retry(wasProcessed: Bool, isRejected: Bool = false) {
        history.retry(wasProcessed: wasProcessed, isRejected: isRejected)
        enter(.queued)
    }

    /// Queues the request for another attempt, which continues or restarts the one that is abandoned.
    mutating func interrupt() {
        history.interrupt()
        enter(.queued)
    }

    var isFinished: Bool { if case .finished = state { true } else { false } }

    /// Whether it can be cancelled or fail: it has not finished, and its attempt has not just ended.
    var isActive: Bool {
        switch state {
        case .attemptEnded, .finished: false
        default: true
        }
    }

    var isReady: Bool { if case .ready = state { true } else { false } }
    var isQueued: Bool { if case .queued = state { true } else { false } }
    var isUpgraded: Bool { if case .upgraded = state { true } else { false } }
    var isDeciding: Bool { if case .deciding = state { true } else { false } }

    /// Whether it can start on a connection.
    var canBegin: Bool {
        switch state {
        case .queued, .pooled: true
        default: false
        }
    }

    /// The state that its user sees.
    var publicState: RequestHandle.State {
        if isPaused { return .paused }
        return switch state {
        case .ready: .ready
        case .opening, .queued, .preparing, .checking, .pooled, .deciding: .waiting
        case .exchanging, .upgraded, .carried, .delivering, .keeping, .attemptEnded, .finished: .running
        }
    }

    /// Its scheduling state, created if there is none.
    var scheduledRun: ScheduledRun {
        mutating get {
            if let scheduled { return scheduled }
            let scheduled = ScheduledRun()
            self.scheduled = scheduled
            return scheduled
        }
    }

    /// Sets the binding and the addresses that were chosen for its connection.
    mutating func give(_ binding: LocalBinding, _ addresses: [SocketAddress]?) {
        guard binding != .unbound || addresses != nil || scheduled != nil else { return }
        scheduledRun.binding = binding == .unbound ? nil : binding
        scheduledRun.addresses = addresses
    }
}

/// Identifies one check of a request's body.
final class BodyCheck: Sendable {}

/// The state of a request that is scheduled: its place in the scheduler, and the path that was chosen for it.
final class ScheduledRun {
    /// Its identifier in the scheduler; nil while the scheduler does not have it.
    var id: RequestScheduler.RequestID?
    /// The number of the current attempt.
    var attempt: UInt32 = 1
    /// Its gate in the scheduler.
    var gate: RequestScheduler.GateID?
    /// The binding of its connection; nil for that of the request.
    var binding: LocalBinding?
    /// The addresses that may be connected to; nil for all addresses of its host.
    var addresses: [SocketAddress]?
    /// Its deadline, moved by pauses; nil for that of the request.
    var deadline: NIODeadline?
}

/// The further state of a request, unless it is a single exchange in memory; confined to the session's event loop.
final class RequestExtras {
    /// The request that is sent instead because of a response: after a redirect, or with credentials.
    var hop: Hop?
    /// Its redirects and challenges.
    var following: FollowingRun?
    /// The decision on whether its current response is the server's, or a captive portal's.
    var validation = ResponseVerdict.accept
    /// Its use of the cache; nil if it uses none.
    var caching: CachingRun?
    /// The receiver of the response's body; nil for memory.
    let receiver: (any BodyReceiver)?
    /// Whether reading the request's body has begun.
    var wasBodyRead = false
    /// The head of the next attempt, as far as stages have completed it.
    var preparedHead: PreparedHead?
    /// The target with which an interceptor replaced that of the current attempt; nil for none, or without a cache.
    var adaptedTarget: String?
    /// Whether the receiver requires the request to be resent.
    var wantsRestart = false
    /// Carries out the decision that was made while its user had paused it.
    var heldDecision: (() -> Void)?
    /// The credentials that were sent to a forwarding proxy.
    var sentProxyProof: ProxyProof?
    /// The number of challenges from the proxy.
    var proxyChallenges = 0
    /// The time for which it was paused while an attempt was running.
    var paused = TimeAmount.zero
    /// The start of the current pause.
    var pauseStart: NIODeadline?

    init(receiver: (any BodyReceiver)?) { self.receiver = receiver }

    /// Adds the current pause to ``paused``: it ends, or is counted by the scheduler from now on.
    func countPause() {
        guard let start = pauseStart else { return }
        paused = paused + (.now() - start)
        pauseStart = nil
    }
}

extension RequestHandle {
    /// Counts the time of a pause that ends, for which its deadline moves; confined to the session's event loop.
    func countPause() {
        // The scheduler moves the deadline of a request that it knows.
        if let scheduled = run.scheduled, scheduled.id == nil, let start = run.extras?.pauseStart {
            scheduled.deadline = scheduled.deadline.map { $0 + (.now() - start) }
        }
        run.extras?.countPause()
    }

    /// Its further state, created if there is none; confined to the session's event loop.
    var extras: RequestExtras {
        if let extras = run.extras { return extras }
        let extras = RequestExtras(receiver: nil)
        run.extras = extras
        return extras
    }

    /// Whether another attempt is possible: its body can be read again, and the receiver accepts another response.
    ///
    /// Confined to the session's event loop.
    var canResend: Bool {
        guard let extras = run.extras else { return true }
        if let receiver = extras.receiver, !receiver.canStartAgain { return false }
        return !extras.wasBodyRead || current.source?.isReplayable != false
    }
}

/// The state of a request that was redirected or challenged; confined to the session's event loop.
final class FollowingRun {
    /// The redirects that were followed.
    var redirects: [Redirect] = []
    /// The decision on the response that is being received, made from its head.
    var decided: ResponseDecision?
    /// Whether the body of the response is withheld from its receiver, because another attempt may follow.
    var isHeldBack = false
    /// The error that explains why the body of the last response is incomplete, if the wait for it was given up.
    var missingBody: HTTPError?
    /// The challenges so far.
    var trail = ChallengeTrail()
    /// The credentials that were sent with the current attempt.
    var sent: SentCredential?
    /// The space for whose challenge the next attempt sends credentials.
    var made: AuthenticatedSpace?
    /// The origin to which it is resent with a newer token.
    var renewed: HTTPOrigin?
}

/// A protection space, and the credential that is used in it.
struct AuthenticatedSpace: Sendable, Hashable {
    let origin: HTTPOrigin
    let realm: String
    let credential: Credential
}

/// The credentials that were sent with an attempt.
enum SentCredential: Sendable {
    /// A token, by its generation.
    case token(TokenRefresh.Generation, at: HTTPOrigin)
    /// Basic credentials that were sent without a challenge, with the realm that they are meant for; nil for any.
    case preemptive(realm: String?)
    /// The credentials for a space; `isMade` if they respond to the previous challenge.
    case space(AuthenticatedSpace, scheme: String, isMade: Bool)
}

extension RequestHandle {
    /// Its redirects and challenges, created if there are none; confined to the session's event loop.
    var following: FollowingRun {
        if let following = extras.following { return following }
        let following = FollowingRun()
        extras.following = following
        return following
    }
}
