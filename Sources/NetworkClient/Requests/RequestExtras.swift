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
