import NIOCore
import NetworkClientCore
import RequestGate

/// The state of one request; confined to the session's event loop.
struct RequestRun {
    /// Where a request is.
    enum State {
        /// It was not started.
        case ready
        /// Its receiver opens what the response's body goes to.
        case opening(any BodyReceiver)
        /// It waits to be let go: for a path, for its next attempt, for its user.
        case queued
        /// A stage completes its head.
        case preparing(StagePreparation, Task<Void, Never>)
        /// It is looked at whether its body can still be sent.
        case checking(BodyCheck)
        /// It waits for a connection.
        case pooled(HostConnections)
        /// It is on a connection.
        case exchanging(Exchange)
        /// The user's transport carries it.
        case carried(Task<Void, Never>)
        /// Its response has come, and is being kept.
        case keeping(any BodyReceiver)
        /// It is decided what follows its attempt, by the task if there is one.
        case deciding(Task<Void, Never>?)
        /// Its attempt has ended, well or not; it may still be retried, or followed by another request.
        case attemptEnded
        /// It has ended; nothing follows.
        case finished
    }

    /// Where it is.
    private(set) var state = State.ready
    /// Whether its user has paused it, wherever it is.
    private(set) var isPaused = false
    /// What became of its attempts.
    var history = AttemptHistory()
    var metrics: RequestMetrics
    /// Ends it at its deadline while it has no connection, whose timer would.
    private(set) var timer: Scheduled<Void>?
    /// What it has besides once it does not simply go.
    var scheduled: ScheduledRun?
    /// What it has besides if it is more than one exchange in memory.
    var extras: RequestExtras?

    init(start: NIODeadline) { metrics = .init(start: start) }

    /// Enters another state, in which its deadline is not watched until ``watch(_:)`` says so.
    ///
    /// - Precondition: It has not finished.
    mutating func enter(_ next: State) {
        precondition(!isFinished, "a request that has finished stays so")
        stopWatching()
        state = next
    }

    /// Sets the timer that ends it at its deadline, in place of another.
    mutating func watch(_ timer: Scheduled<Void>?) {
        stopWatching()
        self.timer = timer
    }

    /// Lets its deadline pass unwatched.
    mutating func stopWatching() {
        timer?.cancel()
        timer = nil
    }

    /// Its user pauses it, or resumes it.
    mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

    /// Its attempt has ended, and there will be another one.
    ///
    /// - Parameter wasProcessed: Whether the attempt may have been processed.
    mutating func retry(wasProcessed: Bool) {
        history.retry(wasProcessed: wasProcessed)
        metrics.bodyBytesReceived = 0
        enter(.queued)
    }

    /// Its attempt is given up for another one, which goes on behind it or starts again.
    mutating func interrupt() {
        history.interrupt()
        metrics.bodyBytesReceived = 0
        enter(.queued)
    }

    var isFinished: Bool { if case .finished = state { true } else { false } }

    /// Whether it is wanted: neither has it finished, nor is it being decided at this moment what follows its attempt.
    var isActive: Bool {
        switch state {
        case .attemptEnded, .finished: false
        default: true
        }
    }

    var isReady: Bool { if case .ready = state { true } else { false } }
    var isQueued: Bool { if case .queued = state { true } else { false } }
    var isDeciding: Bool { if case .deciding = state { true } else { false } }

    /// Whether a connection can take it.
    var canBegin: Bool {
        switch state {
        case .queued, .pooled: true
        default: false
        }
    }

    /// What its user sees.
    var publicState: RequestHandle.State {
        if isPaused { return .paused }
        return switch state {
        case .ready: .ready
        case .opening, .queued, .preparing, .checking, .pooled, .deciding: .waiting
        case .exchanging, .carried, .keeping, .attemptEnded, .finished: .running
        }
    }

    /// What it has besides, made now if there is none.
    var scheduledRun: ScheduledRun {
        mutating get {
            if let scheduled { return scheduled }
            let scheduled = ScheduledRun()
            self.scheduled = scheduled
            return scheduled
        }
    }

    /// Sets the route that was chosen for it.
    mutating func give(_ binding: LocalBinding, _ addresses: [SocketAddress]?) {
        guard binding != .unbound || addresses != nil || scheduled != nil else { return }
        scheduledRun.binding = binding == .unbound ? nil : binding
        scheduledRun.addresses = addresses
    }
}

/// One look at a request's body, told from those before and after it.
final class BodyCheck: Sendable {}

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

/// What a request has beside others if it is more than one exchange in memory; belongs to the session's event loop.
final class RequestExtras {
    /// What is sent in place of the request, since its server asked for it: after a redirect, or with credentials.
    var hop: Hop?
    /// What it went through: redirects, challenges.
    var following: FollowingRun?
    /// Takes the body of the answer.
    let receiver: (any BodyReceiver)?
    /// Whether the body was begun to be read.
    var wasBodyRead = false
    /// The head of the next attempt, as far as stages have completed it.
    var preparedHead: PreparedHead?
    /// Whether the receiver wants the request to be sent again.
    var wantsRestart = false
    /// What was decided while its user had paused it.
    var heldDecision: (() -> Void)?
    /// What a proxy that it was handed to was shown of the user.
    var shownToProxy: ProxyProof?
    /// How often the proxy has asked for the user.
    var proxyChallenges = 0
    /// For how long it was paused while it was under way.
    var paused = TimeAmount.zero
    /// When the present pause began.
    var pauseStart: NIODeadline?

    init(receiver: (any BodyReceiver)?) { self.receiver = receiver }

    /// The pause in which it was under way ends, or goes on where its scheduler counts it.
    func countPause() {
        guard let start = pauseStart else { return }
        paused = paused + (.now() - start)
        pauseStart = nil
    }
}

extension RequestHandle {
    /// What it has beside others, made now if there is none.
    ///
    /// Belongs to the session's event loop.
    var extras: RequestExtras {
        if let extras = run.extras { return extras }
        let extras = RequestExtras(receiver: nil)
        run.extras = extras
        return extras
    }

    /// Whether another attempt can send what the first one did, and its answer be taken.
    ///
    /// Belongs to the session's event loop.
    var canGoAgain: Bool {
        guard let extras = run.extras else { return true }
        if let receiver = extras.receiver, !receiver.canStartAgain { return false }
        return !extras.wasBodyRead || current.source?.isReplayable != false
    }
}

/// What a request has beside others once it was redirected or challenged; belongs to the session's event loop.
final class FollowingRun {
    /// The redirects that were followed.
    var redirects: [Redirect] = []
    /// The methods with which each URL was asked.
    var asked: [String: Set<String>] = [:]
    /// What follows the response that is arriving, decided when its head came.
    var decided: ResponseDecision?
    /// Whether the answer was kept from the receiver of its body, since another one may follow it.
    var isHeldBack = false
    /// Why the body of the last response is not whole, where it was not waited for.
    var missingBody: HTTPError?
    /// What was answered to challenges.
    var trail = ChallengeTrail()
    /// With what the present attempt went out.
    var sent: SentCredential?
    /// The space whose challenge is to be answered by the next attempt.
    var made: AnsweredSpace?
    /// The origin at which it goes again with a newer token.
    var renewed: HTTPOrigin?
}

/// A protection space, and who answers for a request in it.
struct AnsweredSpace: Sendable, Hashable {
    let origin: HTTPOrigin
    let realm: String
    let credential: Credential
}

/// With what an attempt went out.
enum SentCredential: Sendable {
    /// A token with this number.
    case token(TokenRefresh.Generation, at: HTTPOrigin)
    /// The answer of a space, and whether it was made for the challenge before.
    case space(AnsweredSpace, scheme: String, isMade: Bool)
}

extension RequestHandle {
    /// What it has beside others once it was redirected or challenged; made now if there is none.
    ///
    /// Belongs to the session's event loop.
    var following: FollowingRun {
        if let following = extras.following { return following }
        let following = FollowingRun()
        extras.following = following
        return following
    }
}
