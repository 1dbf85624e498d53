public import NIOCore
import NIOHTTP1

/// A whole answer: its head, its body, and how it came.
public struct DataResponse: Sendable {
    let http1: HTTPResponseHead
    /// The body, decompressed; empty if there is none.
    public let buffer: ByteBuffer
    /// How long each stage took.
    public let metrics: RequestMetrics
    let address: HTTPURL
    /// The file that the body went to, if it did; ``buffer`` is empty then.
    ///
    /// A download that was whole already has one with status 416, since its server has nothing more to send.
    public internal(set) var file: DownloadedFile?
    /// The redirects that were followed on the way to this answer, in their order.
    public internal(set) var redirects: [Redirect] = []

    /// The URL that was asked last, without user information and query.
    public var url: String { address.description }

    /// The fragment of that URL, without `#`: that of the redirects' own, or of the request's (RFC 9110, 10.2.2).
    public var fragment: String? { address.fragment }

    /// The status code, such as 200.
    public var status: Int { Int(http1.status.code) }

    /// The protocol and its version, such as `HTTP/1.1`.
    public var version: String { "\(http1.version)" }

    /// The head; made of what the transport has each time it is asked for.
    public var head: HTTPResponse { .init(http1) }

    /// The values of a field, in the order in which they came; the name's case does not count.
    public subscript(name: String) -> [String] { http1.headers[name] }

    /// The same, but for the body, which went elsewhere.
    var withoutBody: Self {
        .init(http1: http1, buffer: .init(), metrics: metrics, address: address, file: file)
    }

    /// The body's bytes: a copy.
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

/// How a request ended, and who waits to hear it: each is told once.
struct Outcome: Sendable {
    typealias Ending = Result<DataResponse, HTTPError>
    typealias Waiter = @Sendable (Ending) -> Void

    private(set) var ending: Ending?
    // Nearly always there is one task that waits: it needs no list.
    private var continuation: UnsafeContinuation<Ending, Never>?
    private var others: [Waiter] = []
    /// How far it was when it failed; an object, since most requests have none.
    private var failure: FailedRun?

    /// How long each stage took; nil until it has ended.
    var metrics: RequestMetrics? {
        if case .success(let response) = ending { response.metrics } else { failure?.metrics }
    }

    /// Lets a task wait.
    ///
    /// - Returns: The ending if it is there already: the continuation is then the caller's to resume.
    mutating func await(_ waiting: UnsafeContinuation<Ending, Never>) -> Ending? {
        if let ending { return ending }
        if continuation == nil {
            continuation = waiting
        } else {
            others.append { waiting.resume(returning: $0) }
        }
        return nil
    }

    /// Lets a closure wait.
    ///
    /// - Returns: The ending if it is there already: the closure is then the caller's to call.
    mutating func call(_ waiter: @escaping Waiter) -> Ending? {
        if let ending { return ending }
        others.append(waiter)
        return nil
    }

    /// Sets the ending.
    ///
    /// - Parameters:
    ///   - ending: The ending.
    ///   - failure: How far it was, if it failed.
    /// - Returns: Who is to be told; nil if it had ended before.
    mutating func end(_ ending: Ending, _ failure: FailedRun? = nil) -> Waiters? {
        guard self.ending == nil else { return nil }
        self.ending = ending
        self.failure = failure
        defer {
            continuation = nil
            others = []
        }
        return .init(continuation: continuation, others: others)
    }

    /// Who is to be told, outside of any lock.
    struct Waiters: Sendable {
        let continuation: UnsafeContinuation<Ending, Never>?
        let others: [Waiter]

        func tell(_ ending: Ending) {
            continuation?.resume(returning: ending)
            for other in others { other(ending) }
        }
    }
}

/// How far a request was that failed.
final class FailedRun: Sendable {
    let metrics: RequestMetrics

    /// Counts the time until now as the request's.
    init(_ metrics: RequestMetrics) {
        var metrics = metrics
        metrics.end = .now()
        self.metrics = metrics
    }
}
