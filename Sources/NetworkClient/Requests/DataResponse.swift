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
