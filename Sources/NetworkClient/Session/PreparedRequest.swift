import NIOCore
import NIOHTTP1

/// A request as it goes out, and how.
package struct PreparedRequest: Sendable {
    var url: HTTPURL
    var endpoint: Endpoint
    var head: HTTPRequestHead
    var body: ByteBuffer?
    /// The body, if it is not in memory.
    var source: BodySource?
    var limits: Timeouts
    /// How large the answer's body may become, decompressed.
    var maximumBodySize: Int
    /// How large it may become where it is not kept in memory.
    var maximumStreamSize = Int.max
    /// Where the answer's body goes.
    var destination = ResponseDestination.memory
    /// Whether the body waits for the server's leave.
    var expectsContinue: Bool

    /// As whom it appears; nil for as nobody.
    var login: RequestCredentials?

    /// How it waits and goes again, and what redirects it follows.
    var policy: RequestPolicy

    /// Whether it has a body.
    var hasBody: Bool { body != nil || source != nil }

    /// Whether it may be processed twice: the method is idempotent, or made so by a key (RFC 9110, 9.2.2).
    var isRepeatable: Bool { head.method.isIdempotent || head.headers.contains(name: "Idempotency-Key") }

    /// Why it can't be sent; nil if it can.
    var flaw: HTTPError?

    /// Stands in a handle for what could not be made ready.
    static func invalid(_ method: HTTPRequest.Method, _ flaw: HTTPError) -> Self {
        .init(
            url: .nowhere,
            endpoint: .init(isSecure: false, host: "", port: 0),
            head: .init(version: .http1_1, method: .init(method), uri: ""),
            limits: .init(),
            maximumBodySize: 0,
            expectsContinue: false,
            policy: .init(HTTPConfiguration()),
            flaw: flaw
        )
    }

    /// The head as users know heads.
    var publicHead: HTTPRequest { .init(head, at: url) }

    /// For logs: no user information, no query.
    var description: String { "\(head.method.rawValue) \(url)" }
}

extension HTTPRequest {
    /// A head as users know heads.
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
    /// Whether doing it twice is as good as once (RFC 9110, 9.2.2).
    var isIdempotent: Bool {
        switch self {
        case .GET, .HEAD, .PUT, .DELETE, .OPTIONS, .TRACE: true
        default: false
        }
    }
}

extension HTTPURL {
    /// Stands where a text was no URL.
    static let nowhere = Self()

    private init() {
        (isSecure, host, port, authority, target, directoryLength) = (false, "", 0, "", "", 0)
        (user, password, fragment) = (nil, nil, nil)
    }
}

/// What is sent in place of a request since its server asked for it; an object, so that finding it copies nothing.
final class Hop {
    let request: PreparedRequest

    init(_ request: PreparedRequest) { self.request = request }
}

/// What is sent now: the request, or what its server made of it; belongs to the session's event loop.
///
/// A prepared request is large. Each property is read where it stands, since to copy the whole for one of them costs an
/// allocation and the counting of twenty references, several times for each request.
struct CurrentRequest {
    private let handle: RequestHandle

    init(_ handle: RequestHandle) { self.handle = handle }

    private var hop: Hop? { handle.run.extras?.hop }

    /// A copy of it all.
    var copy: PreparedRequest { hop?.request ?? handle.request }

    var url: HTTPURL { if let hop { hop.request.url } else { handle.request.url } }
    var endpoint: Endpoint { if let hop { hop.request.endpoint } else { handle.request.endpoint } }
    var head: HTTPRequestHead { if let hop { hop.request.head } else { handle.request.head } }
    var body: ByteBuffer? { if let hop { hop.request.body } else { handle.request.body } }
    var source: BodySource? { if let hop { hop.request.source } else { handle.request.source } }
    var limits: Timeouts { if let hop { hop.request.limits } else { handle.request.limits } }
    var login: RequestCredentials? { if let hop { hop.request.login } else { handle.request.login } }
    var policy: RequestPolicy { if let hop { hop.request.policy } else { handle.request.policy } }
    var hasBody: Bool { if let hop { hop.request.hasBody } else { handle.request.hasBody } }
    var isRepeatable: Bool { if let hop { hop.request.isRepeatable } else { handle.request.isRepeatable } }
    var description: String { if let hop { hop.request.description } else { handle.request.description } }

    var maximumBodySize: Int { if let hop { hop.request.maximumBodySize } else { handle.request.maximumBodySize } }

    var maximumStreamSize: Int {
        if let hop { hop.request.maximumStreamSize } else { handle.request.maximumStreamSize }
    }

    var expectsContinue: Bool {
        if let hop { hop.request.expectsContinue } else { handle.request.expectsContinue }
    }
}

extension RequestHandle {
    /// What is sent now: the request, or what its server made of it.
    ///
    /// Belongs to the session's event loop.
    var current: CurrentRequest { .init(self) }
}

/// Where the body of a response goes.
enum ResponseDestination: Sendable {
    /// To memory, within ``HTTPConfiguration/maximumBodySize``.
    case memory
    /// To the reader of a ``StreamRequest``.
    case stream
    /// To what a ``DownloadRequest`` takes it with; nil for memory.
    case receiver(@Sendable (RequestHandle) throws(HTTPError) -> (any BodyReceiver)?)
}
