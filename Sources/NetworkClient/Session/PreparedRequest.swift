import NIOCore
import NIOHTTP1

/// A request that is ready to be sent, with its policies and limits.
package struct PreparedRequest: Sendable {
    var url: HTTPURL
    var endpoint: Endpoint
    var head: HTTPRequestHead
    var body: ByteBuffer?
    /// The body, if it is not in memory.
    var source: BodySource?
    var limits: Timeouts
    /// The maximum size of a response's body in memory, after decompression, in bytes.
    var maximumBodySize: Int
    /// The maximum size of a body in a file or stream, in bytes.
    var maximumStreamSize = Int.max
    /// The destination of the response's body.
    var destination = ResponseDestination.memory
    /// Whether the body waits for the server's consent (`Expect: 100-continue`).
    var expectsContinue: Bool

    /// The credentials; nil if the request does not authenticate.
    var login: RequestCredentials?

    /// The policies for waiting, retries and redirects.
    var policy: RequestPolicy
    /// The use of the session's cache.
    var cachePolicy = CachePolicy.useProtocol

    /// The marks by which its user recognizes it; nil if it has none.
    var marks: RequestMarks?
    /// Whether it was made to send a body.
    var isUpload = false

    /// Whether it has a body.
    var hasBody: Bool { body != nil || source != nil }

    /// Whether it may be processed twice: its method is idempotent (RFC 9110, 9.2.2), or it has an idempotency key.
    var isRepeatable: Bool { head.method.isIdempotent || head.headers.contains(name: "Idempotency-Key") }

    /// The reason why it can't be sent; nil if it can.
    var flaw: HTTPError?

    /// Returns a placeholder for a request that could not be prepared.
    static func invalid(_ method: HTTPRequest.Method, _ flaw: HTTPError, _ options: RequestOptions) -> Self {
        .init(
            url: .nowhere,
            endpoint: .init(isSecure: false, host: "", port: 0),
            head: .init(version: .http1_1, method: .init(method), uri: ""),
            limits: .init(),
            maximumBodySize: 0,
            expectsContinue: false,
            policy: .init(HTTPConfiguration()),
            marks: .of(options),
            isUpload: options.isUpload,
            flaw: flaw
        )
    }

    /// The head in the types of the public API.
    var publicHead: HTTPRequest { .init(head, at: url) }

    /// The method and the URL without user information and query, for logs.
    var description: String { "\(head.method.rawValue) \(url)" }
}

extension HTTPRequest {
    /// Creates a head from NIO's.
    init(_ head: HTTPRequestHead, at url: HTTPURL) {
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(.init(name: name, value: value))
        }
        self.init(
            method: .init(rawValue: head.method.rawValue) ?? .get,
            scheme: url.scheme,
            authority: url.authority,
            path: head.uri,
            headerFields: fields
        )
    }
}

extension HTTPMethod {
    /// Whether the method is idempotent (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self {
        case .GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE: true
        default: false
        }
    }
}

extension HTTPURL {
    /// A placeholder for an invalid URL.
    static let nowhere = Self()

    private init() {
        (isSecure, host, port, authority, target, directoryLength) = (false, "", 0, "", "", 0)
        (user, password, fragment) = (nil, nil, nil)
    }
}

/// The request that replaces the original one after a redirect or a challenge; an object, so that access copies
/// nothing.
final class Hop {
    let request: PreparedRequest

    init(_ request: PreparedRequest) { self.request = request }
}

/// The request that is currently sent: the original one, or its replacement after a redirect or a challenge; confined
/// to the session's event loop.
///
/// A prepared request is large. Each property is read in place: copying the whole request for one property would cost
/// an allocation and about twenty retains, several times per request.
struct CurrentRequest {
    private let handle: RequestHandle

    init(_ handle: RequestHandle) { self.handle = handle }

    private var hop: Hop? { handle.run.extras?.hop }

    /// A copy of the whole request.
    var copy: PreparedRequest { hop?.request ?? handle.request }

    var url: HTTPURL { if let hop { hop.request.url } else { handle.request.url } }
    var endpoint: Endpoint { if let hop { hop.request.endpoint } else { handle.request.endpoint } }
    var head: HTTPRequestHead { if let hop { hop.request.head } else { handle.request.head } }
    var body: ByteBuffer? { if let hop { hop.request.body } else { handle.request.body } }
    var source: BodySource? { if let hop { hop.request.source } else { handle.request.source } }
    var limits: Timeouts { if let hop { hop.request.limits } else { handle.request.limits } }
    var login: RequestCredentials? { if let hop { hop.request.login } else { handle.request.login } }
    var policy: RequestPolicy { if let hop { hop.request.policy } else { handle.request.policy } }
    var cachePolicy: CachePolicy { if let hop { hop.request.cachePolicy } else { handle.request.cachePolicy } }
    var hasBody: Bool { if let hop { hop.request.hasBody } else { handle.request.hasBody } }
    var isRepeatable: Bool { if let hop { hop.request.isRepeatable } else { handle.request.isRepeatable } }
    var description: String { if let hop { hop.request.description } else { handle.request.description } }

    /// The length of the body in bytes; nil if there is none, or if it is not known.
    var bodyLength: Int64? { body.map { Int64($0.readableBytes) } ?? source?.length }

    var maximumBodySize: Int { if let hop { hop.request.maximumBodySize } else { handle.request.maximumBodySize } }

    var maximumStreamSize: Int {
        if let hop { hop.request.maximumStreamSize } else { handle.request.maximumStreamSize }
    }

    var expectsContinue: Bool {
        if let hop { hop.request.expectsContinue } else { handle.request.expectsContinue }
    }
}

extension RequestHandle {
    /// The request that is currently sent: the original one, or its replacement after a redirect or a challenge.
    ///
    /// Confined to the session's event loop.
    var current: CurrentRequest { .init(self) }
}

/// The destination of a response's body.
enum ResponseDestination: Sendable {
    /// Memory, up to ``HTTPConfiguration/maximumBodySize``.
    case memory
    /// The reader of a ``StreamRequest``.
    case stream
    /// The receiver of a ``DownloadRequest``, or of a ``DataRequest`` that may become a download; nil for memory.
    case receiver(@Sendable (RequestHandle) throws(HTTPError) -> (any BodyReceiver)?)
    /// A WebSocket, to which the connection changes.
    case webSocket(WebSocketOptions)

    /// Whether the request opens a WebSocket.
    var isWebSocket: Bool { if case .webSocket = self { true } else { false } }
}
