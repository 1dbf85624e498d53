import NIOCore

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
    /// Whether the receiver wants the request to go again.
    var mustGoAgain = false
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

    /// Makes what takes the answer's body; nil for memory.
    func makeReceiver() throws(HTTPError) -> (any BodyReceiver)? {
        switch request.destination {
        case .memory: nil
        case .stream: stream.map { StreamReceiver($0, loop: core.loop) }
        case .output(let output): FileReceiver.taking(output, of: self)
        case .receiver(let make): try make(self)
        }
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
    /// What follows the answer that is coming, decided when its head came.
    var decided: FollowUp?
    /// Whether the answer was kept from whoever takes its body, since another one may follow it.
    var isHeldBack = false
    /// Why the body of the last response is not whole, where it was not waited for.
    var missingBody: HTTPError?
    /// What was decided while its user had paused it, and the answer that it follows.
    var answered: (FollowUp, DataResponse)?
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
