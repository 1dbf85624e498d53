import NetworkClient

extension RetryReason {
    /// Why a request goes again, in words.
    var words: String {
        switch self {
        case .neverSent: "nothing of it was sent"
        case .refusedUnprocessed: "the server did nothing with it"
        case .idempotent: "it may be done twice"
        case .status: "the status says to try later"
        case .interceptor: "as was asked"
        }
    }
}

extension GiveUpReason {
    /// Why a request does not go again, in words.
    var words: String {
        switch self {
        case .noPolicy: "it was to be tried once"
        case .permanent: "it would fail the same"
        case .notIdempotent: "it may have been done, and must not be done twice"
        case .notReplayable: "its body can't be had again"
        case .status: "the status does not say to try later"
        case .attempts: "all attempts were made"
        case .budget: "too much has failed of late"
        case .breaker: "the server is given a rest"
        case .deadline: "the next attempt would come too late"
        case .interceptor: "as was asked"
        }
    }
}
