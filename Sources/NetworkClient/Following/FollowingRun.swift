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
