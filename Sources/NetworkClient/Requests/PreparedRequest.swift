import NIOCore
import NIOHTTP1

/// A request as it goes out, and how.
struct PreparedRequest: Sendable {
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
    var login: RequestLogin?

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
    var publicHead: HTTPRequest {
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(.init(name: name, value: value))
        }
        return .init(
            method: .init(rawValue: head.method.rawValue) ?? .get,
            scheme: url.scheme,
            authority: url.authority,
            path: head.uri,
            headerFields: fields
        )
    }

    /// For logs: no user information, no query.
    var description: String { "\(head.method.rawValue) \(url)" }
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
