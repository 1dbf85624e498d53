public import NIOCore
import NIOHTTP1

/// A complete response: its head, its body and its metrics.
public struct DataResponse: Sendable {
    let http1: HTTPResponseHead
    /// The body, decompressed; empty if there is none.
    public let buffer: ByteBuffer
    let recorded: RequestMetrics
    let address: HTTPURL
    /// The file that the body was written to, if it was; ``buffer`` is empty then.
    ///
    /// A file that was complete before has status 416, since the server had nothing more to send.
    public internal(set) var file: DownloadedFile?
    /// The redirects that were followed before this response, in order.
    public internal(set) var redirects: [Redirect] = []
    /// Whether a captive portal may have sent the response in place of the server.
    ///
    /// It came over plain HTTP, or after a redirect over plain HTTP, and ``HTTPConfiguration/validation`` does not report the
    /// path as validated. Always false without that setting, and for requests with ``ValidationRequirement/validated``, which
    /// don't return such a response.
    public internal(set) var mayBeFromPortal = false
    /// The origin of a response of the cache; nil for one of the network.
    var cached: CacheOrigin?

    /// Creates the response of a request, with its metrics and its current URL.
    init(_ head: HTTPResponseHead, _ body: ByteBuffer, of handle: RequestHandle) {
        (http1, buffer, recorded, address) = (head, body, handle.run.metrics, handle.current.url)
    }

    /// Where the response comes from: the network, or the session's cache.
    public var source: ResponseSource { cached?.source ?? .network }

    /// The age of a response of the cache, from the time at which the server made or validated it (RFC 9111, 4.2.3); nil for
    /// one of the network.
    public var age: Duration? { cached.map { .seconds($0.age) } }

    /// Whether the time for which a response of the cache is fresh was estimated, because the server states none (RFC 9111,
    /// 4.2.2).
    public var hasEstimatedFreshness: Bool { cached?.isEstimated ?? false }

    /// The durations of the stages of the request, its connections and the amounts of data.
    public var metrics: RequestMetrics { recorded.describing(address) }

    /// The URL that was requested last, with its query, without user information.
    ///
    /// A query may contain secrets: for logs, the ``HTTPError/request`` of an error, and events, have the URL without it.
    public var url: String { address.absolute(address.target) }

    /// The fragment of that URL, without `#`: the last redirect's, or else that of the previous URL (RFC 9110, 10.2.2).
    public var fragment: String? { address.fragment }

    /// The file name that the response suggests, which is safe as the last component of a path.
    ///
    /// It is the name in `Content-Disposition` (RFC 6266), or else the last component of the URL's path, or else
    /// `download`. It has no separators, control characters and leading dot, at most 255 bytes, and is no device name of
    /// Windows.
    public var suggestedFileName: String { head.suggestedFileName(at: address) }

    /// The status code, such as 200.
    public var status: Int { Int(http1.status.code) }

    /// The protocol version, such as `HTTP/1.1`.
    public var version: String { http1.version.text }

    /// The status and the header fields; created at each access.
    public var head: HTTPResponse { .init(http1) }

    /// The values of a header field, in the order in which they were received; the name is case-insensitive.
    public subscript(name: String) -> [String] { http1.headers[name] }

    /// The names and values of the header fields, in the order in which they were received.
    package var fields: [(name: String, value: String)] { http1.headers.map { ($0.name, $0.value) } }

    /// A copy of the body's bytes.
    public var bytes: [UInt8] { Array(buffer.readableBytesView) }
}

extension HTTPResponse {
    init(_ head: HTTPResponseHead) {
        self.init(status: .init(code: Int(head.status.code), reasonPhrase: head.status.reasonPhrase))
        headerFields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(.init(name: name, value: value))
        }
    }
}

/// The outcome of a request, and the continuations and closures that wait for it, each called once.
struct Outcome: Sendable {
    typealias Ending = Result<DataResponse, HTTPError>
    typealias Waiter = @Sendable (Ending) -> Void

    private(set) var ending: Ending?
    // Usually one task waits: it needs no list.
    private var continuation: UnsafeContinuation<Ending, Never>?
    private var others: [Waiter] = []

    /// The durations of the stages; nil until the request has finished.
    var metrics: RequestMetrics? {
        switch ending {
        case .success(let response): response.metrics
        case .failure(let error): error.metrics
        case nil: nil
        }
    }

    /// Adds a continuation that waits for the outcome.
    ///
    /// - Returns: The outcome if it is known: the caller must then resume the continuation.
    mutating func await(_ waiting: UnsafeContinuation<Ending, Never>) -> Ending? {
        if let ending { return ending }
        if continuation == nil {
            continuation = waiting
        } else {
            others.append { waiting.resume(returning: $0) }
        }
        return nil
    }

    /// Adds a closure that waits for the outcome.
    ///
    /// - Returns: The outcome if it is known: the caller must then call the closure.
    mutating func call(_ waiter: @escaping Waiter) -> Ending? {
        if let ending { return ending }
        others.append(waiter)
        return nil
    }

    /// Sets the outcome.
    ///
    /// - Returns: The waiters to call; nil if the outcome was set before.
    mutating func end(_ ending: Ending) -> Waiters? {
        guard self.ending == nil else { return nil }
        self.ending = ending
        defer {
            continuation = nil
            others = []
        }
        return .init(continuation: continuation, others: others)
    }

    /// The waiters, to be called outside of any lock.
    struct Waiters: Sendable {
        let continuation: UnsafeContinuation<Ending, Never>?
        let others: [Waiter]

        func tell(_ ending: Ending) {
            continuation?.resume(returning: ending)
            for other in others { other(ending) }
        }
    }
}
