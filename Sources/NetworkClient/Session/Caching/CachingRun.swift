import NetworkClientCore

/// The state of a request that may use a cache; one for each URL that a redirect leads to.
///
/// Unchecked, because it is confined to the session's event loop.
final class CachingRun: @unchecked Sendable {
    /// The URL under which responses are stored.
    let url: String
    /// The request as it is looked for.
    let request: CacheRequest
    let mode: CacheMode
    /// The cache's epoch before the stored response was looked for.
    let lookupEpoch: Int
    /// The stored response that matches.
    var match: CachedMatch?
    /// The reader of its body, if that is in a file and was checked.
    var reader: CacheFileReader?
    /// Whether the stored response is being checked or delivered.
    var isDelivering = false
    /// The origin of the response that is being delivered; nil for one of the network.
    var origin: CacheOrigin?

    /// The fields with which the attempt was sent.
    private(set) var sent = CachedFields()
    /// The time of the attempt, in seconds since 1970.
    private(set) var requestTime: Int64 = 0
    private(set) var epoch = 0
    /// Whether the attempt validates the stored response.
    var isValidating = false
    /// The handling of the attempt's response.
    var outcome = Outcome.stored
    /// The response that is being stored, and its body.
    var response: CachedResponse?
    var writer: CacheWriter?

    /// The handling of a response.
    enum Outcome {
        /// It is stored, if it may be.
        case stored
        /// It confirms the stored one.
        case validated
        /// It confirms another one.
        case mismatched
        /// It is an error, whose place the stored one takes.
        case failed(Int)
    }

    init(_ url: String, _ request: CacheRequest, _ mode: CacheMode, epoch: Int) {
        (self.url, self.request, self.mode, lookupEpoch) = (url, request, mode, epoch)
    }

    /// An attempt begins.
    func begin(_ fields: CachedFields, now: Int64, epoch: Int) {
        (sent, requestTime, self.epoch) = (fields, now, epoch)
        (isValidating, outcome, response, writer) = (false, .stored, nil, nil)
        (origin, reader, isDelivering) = (nil, nil, false)
    }

    /// Whether the response was made without the server.
    var isWithoutServer: Bool { origin.map { $0.source != .validated } ?? false }

    /// Whether the request has a condition of its own, to which a 304 is the response.
    var hasOwnCondition: Bool {
        request.fields.contains("If-None-Match") || request.fields.contains("If-Modified-Since")
    }

    /// Returns whether an equal request would be found to match a response: interceptors and authentication set none of the
    /// fields on which it depends.
    func isMatchedLater(_ response: CachedResponse) -> Bool {
        let names = VaryRules.names(of: response)
        return names.isEmpty || VaryRules.key(names, of: sent) == VaryRules.key(names, of: request.fields)
    }
}
