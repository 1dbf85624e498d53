public import ReachabilityCore

/// The settings of one request, which replace those of its session.
public struct RequestOptions: Sendable {
    /// The time limits of its stages; nil, the default, for the session's.
    public var timeouts: Timeouts?
    /// The interface or source address that its connection is bound to; nil, the default, for the session's.
    public var binding: LocalBinding?
    /// The type of its traffic for routers and the queues of this machine; nil, the default, for the session's.
    ///
    /// Connections are shared only by requests of the same type.
    public var serviceType: NetworkServiceType?
    /// The TLS options, which replace all of the session's for servers; nil, the default, for the session's.
    ///
    /// Connections are shared only by requests with equal options. A ``TLSOptions/challengeHandler`` can't be compared:
    /// such a request has a connection of its own.
    public var tls: TLSOptions?
    /// The maximum size of the response's body, after decompression, in bytes; nil, the default, for the session's.
    ///
    /// For files and streams, nil is no limit.
    public var maximumBodySize: Int?
    /// Whether the body waits for the server's consent (`Expect: 100-continue`; RFC 9110, 10.1.1); false by default.
    ///
    /// Without a response, it is sent after one second.
    public var expectsContinue: Bool
    /// Whether the request starts immediately, rather than with ``RequestHandle/resume()``; true by default.
    public var startsAtOnce: Bool

    /// Whether it waits for a path to its destination; nil, the default, for the session's policy.
    public var gate: GatePolicy?
    /// The requirement on its path; nil, the default, for the session's.
    public var requirement: PathRequirement?
    /// Whether its path must be validated; nil, the default, for the session's requirement.
    ///
    /// `any` lets a request to the local network pass while a captive portal holds the path to the internet. `validated` in a
    /// session without ``HTTPConfiguration/validation`` fails the request with ``HTTPError/Code/invalidConfiguration``.
    public var validationRequirement: ValidationRequirement?
    /// The conditions and delays for retrying it; nil, the default, for the session's policy.
    public var retry: RetryPolicy?
    /// The handling of the running request if its path is lost; nil, the default, for the session's policy.
    public var pathLoss: PathLossPolicy?
    /// Its priority among the requests that wait for a path or for a connection; `normal` by default.
    ///
    /// Each level is worth 30 seconds of waiting.
    public var priority: RequestPriority
    /// The key by which the server recognizes repeated attempts, if it supports such keys; nil by default.
    ///
    /// A request with a key is retried like an idempotent one.
    public var idempotencyKey: IdempotencyKey?
    /// The proxies; nil, the default, for the session's.
    public var proxy: ProxyConfiguration?
    /// The redirects that are followed; nil, the default, for the session's policy.
    public var redirects: RedirectPolicy?
    /// The credential for the origin of its URL, sent when the server requires one; nil, the default, for that in the
    /// URL, or the session's.
    public var credential: Credential?
    /// Whether ``credential``, or the credential in the URL, is sent with the first attempt as Basic, before the server
    /// requires one; false by default.
    ///
    /// The server, and everyone on the path without TLS, then has the password even if it would have accepted Digest.
    public var isPreemptive: Bool
    /// Whether the request may be authenticated; true by default.
    ///
    /// If false, no credentials are sent, and a 401 is its response.
    public var authenticates: Bool
    /// Whether cookies of the session's store are sent with the request, and those of its responses stored; true by default.
    ///
    /// If false, a `Cookie` field of the request itself is still sent.
    public var handlesCookies: Bool
    /// The use of the session's cache; nil, the default, for the session's policy.
    public var cachePolicy: CachePolicy?
    /// The interceptors of this request; none by default.
    ///
    /// Their ``RequestInterceptor/adapt(_:for:)`` is called after that of the session's interceptors, and their
    /// ``RequestInterceptor/retry(_:)`` before it.
    public var interceptors: [any RequestInterceptor]
    /// Decides from the head of a response whether a data request becomes a download: returns the path of the file that
    /// the body is written to, or nil for memory; nil, the default, for memory in any case.
    ///
    /// ```swift
    /// let options = RequestOptions(becomesDownload: { head, name in
    ///     head.headerFields[.contentType] == "application/json" ? nil : "/var/spool/reports/\(name)"
    /// })
    /// ```
    ///
    /// The closure is called once, with the head of the first 2xx response, and the file name that it suggests, which
    /// is safe as in ``HTTPSession/download(_:method:parameters:headers:body:options:destination:)-(_,_,Parameters?,_,_,_,_)``.
    /// It is called on the session's event loop and must not block. The file appears complete or not at all, replaces an
    /// existing one, and is ``DataResponse/file``. The body of a stream request is written to a file by
    /// ``ResponseBody/save(to:)``.
    public var becomesDownload: (@Sendable (HTTPResponse, _ suggestedName: String) -> String?)?
    /// A text that tells the request from others, in logs and errors; nil, the default, for none.
    ///
    /// It is not sent. ``RequestHandle/tag`` and ``HTTPError/tag`` return it.
    public var tag: String?
    /// A value of the caller, which ``RequestHandle/userInfo`` returns; nil, the default, for none.
    ///
    /// The library neither reads nor sends it.
    public var userInfo: (any Sendable)?

    /// The serializer of its parameters; nil, the default, for the session's.
    public var requestSerializer: (any RequestSerializer)?
    /// The acceptable responses, and the decoder of JSON; nil, the default, for the session's.
    public var responseSerializer: ResponseSerializerSettings?

    /// Whether the request was made to send a body.
    var isUpload = false
    /// The destination of the response's body.
    var destination = ResponseDestination.memory

    /// Creates options; the properties describe the parameters.
    public init(
        timeouts: Timeouts? = nil,
        binding: LocalBinding? = nil,
        serviceType: NetworkServiceType? = nil,
        tls: TLSOptions? = nil,
        maximumBodySize: Int? = nil,
        expectsContinue: Bool = false,
        startsAtOnce: Bool = true,
        gate: GatePolicy? = nil,
        requirement: PathRequirement? = nil,
        validationRequirement: ValidationRequirement? = nil,
        retry: RetryPolicy? = nil,
        pathLoss: PathLossPolicy? = nil,
        priority: RequestPriority = .normal,
        idempotencyKey: IdempotencyKey? = nil,
        proxy: ProxyConfiguration? = nil,
        redirects: RedirectPolicy? = nil,
        credential: Credential? = nil,
        isPreemptive: Bool = false,
        authenticates: Bool = true,
        handlesCookies: Bool = true,
        cachePolicy: CachePolicy? = nil,
        interceptors: [any RequestInterceptor] = [],
        becomesDownload: (@Sendable (HTTPResponse, _ suggestedName: String) -> String?)? = nil,
        tag: String? = nil,
        userInfo: (any Sendable)? = nil,
        requestSerializer: (any RequestSerializer)? = nil,
        responseSerializer: ResponseSerializerSettings? = nil
    ) {
        self.timeouts = timeouts
        self.binding = binding
        self.serviceType = serviceType
        self.tls = tls
        self.maximumBodySize = maximumBodySize
        self.expectsContinue = expectsContinue
        self.startsAtOnce = startsAtOnce
        self.gate = gate
        self.requirement = requirement
        self.validationRequirement = validationRequirement
        self.retry = retry
        self.pathLoss = pathLoss
        self.priority = priority
        self.idempotencyKey = idempotencyKey
        self.proxy = proxy
        self.redirects = redirects
        self.credential = credential
        self.isPreemptive = isPreemptive
        self.authenticates = authenticates
        self.handlesCookies = handlesCookies
        self.cachePolicy = cachePolicy
        self.interceptors = interceptors
        self.becomesDownload = becomesDownload
        self.tag = tag
        self.userInfo = userInfo
        self.requestSerializer = requestSerializer
        self.responseSerializer = responseSerializer
    }
}

/// The value of the `Idempotency-Key` field, by which a server recognizes further attempts of a request.
///
/// It is the same in all attempts.
public enum IdempotencyKey: Sendable, Hashable {
    /// A random key of 128 bits.
    case random
    /// A given key.
    ///
    /// A text that is empty or not a valid field value fails the request with ``HTTPError/Code/invalidConfiguration``.
    case custom(String)

    /// Returns the key.
    ///
    /// - Throws: `invalidConfiguration` for an invalid field value: a line break in it would begin another field.
    func checkedText() throws(HTTPError) -> String {
        let text = text
        guard !text.isEmpty, HTTPField.isValidValue(text) else {
            let reason =
                """
                \(text.debugDescription) is no valid idempotency key: it must not be empty, contain control \
                characters, or begin or end with a space
                """
            throw .init(.invalidConfiguration, processing: .neverSent, reason: reason)
        }
        return text
    }

    /// The key, not validated.
    var text: String {
        switch self {
        case .custom(let text): text
        case .random: RandomToken.hexadecimal
        }
    }
}

extension RequestOptions {
    /// The options of a request that is made to send a body.
    var uploading: Self {
        var options = self
        options.isUpload = true
        return options
    }
}
