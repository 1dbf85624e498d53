import Crypto
import HTTPLab
import Locking
import NetworkClient
import Testing

/// A server that verifies the signature of each attempt, as APIs with signed requests do.
@Suite(.timeLimit(.minutes(5)))
struct SigningTests {
    /// Signs method, path, body and a number that is used once.
    private struct Signer: RequestInterceptor {
        static let key = SymmetricKey(data: Array("shared secret".utf8))

        func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
            var signed = request
            let nonce = "\(attempt.number)"
            let text = "\(request.method) \(request.path ?? "/") \(nonce)\n"
            signed.headerFields[.authorization] = Self.signature(of: Array(text.utf8) + (attempt.body ?? []))
            signed.headerFields[fields: Self.nonce] = [.init(name: Self.nonce, value: nonce)]
            return signed
        }

        private static let nonce = HTTPField.Name("X-Nonce") ?? .userAgent

        static func signature(of bytes: [UInt8]) -> String {
            let code = HMAC<SHA256>.authenticationCode(for: bytes, using: key)
            return "HMAC " + code.map { String(UInt16($0) | 256, radix: 16).dropFirst() }.joined()
        }
    }

    /// Verifies signatures, and plays one response after another to the requests that are signed.
    private final class Verifier: Sendable {
        private let state: Lock<(rest: ArraySlice<[ServerStep]>, nonces: Set<String>)>

        init(_ steps: [[ServerStep]]) { state = .init((steps[...], [])) }

        func steps(for request: ServerRecord.Request) -> [ServerStep] {
            let parts = request.head.prefix { $0 != "\r\n" }.split(separator: " ")
            guard parts.count == 3, let nonce = request.field("X-Nonce") else {
                return [.response("not signed", status: "400 Bad Request")]
            }
            let signed = Array("\(parts[0]) \(parts[1]) \(nonce)\n".utf8) + request.body
            guard request.field("Authorization") == Signer.signature(of: signed) else {
                return [.response("bad signature", status: "403 Forbidden")]
            }
            return state.withLock { state in
                guard state.nonces.insert(nonce).inserted else {
                    return [.response("replayed", status: "409 Conflict")]
                }
                return state.rest.popFirst() ?? [.response("too many", status: "410 Gone")]
            }
        }
    }

    private static func redirect(_ status: String, to path: String) -> [ServerStep] {
        [.response("", status: status, headers: ["Location: \(path)"])]
    }

    @Test func `each attempt is signed again: after redirects, refusals and lost connections`() async throws {
        let verifier = Verifier([
            Self.redirect("307 Temporary Redirect", to: "/v2/readings?from=v1"),
            [.response("busy", status: "503 Service Unavailable")],
            [.reset],
            Self.redirect("308 Permanent Redirect", to: "/v3/readings"),
            [.response("stored", status: "201 Created")],
        ])
        let server = try ScriptedServer(always: [.forever([.respond { verifier.steps(for: $0) }])])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/v1/",
            configuration: .init(
                timeouts: .lasting,
                retry: .init(maximumAttempts: 9, baseDelay: .milliseconds(1)),
                interceptors: [Signer()]
            )
        )
        let options = RequestOptions(idempotencyKey: .custom("reading-7"))
        let request = session.post("readings", body: .json(["value": 20.5]), options: options)
        let response = try await request.response()
        #expect(response.status == 201 && response.bytes == Array("stored".utf8), "\(response.bytes)")
        let requests = server.requests
        #expect(requests.count == 5)
        #expect(Set(requests.map { $0.field("Authorization") }).count == 5)
        #expect(requests.allSatisfy { $0.field("Idempotency-Key") == "reading-7" })
        #expect(requests.last?.head.hasPrefix("POST /v3/readings HTTP/1.1\r\n") == true)
    }

    @Test func `a redirect that turns a POST into a GET is signed without the body`() async throws {
        let verifier = Verifier([Self.redirect("303 See Other", to: "/v1/readings/7"), [.response("seven")]])
        let server = try ScriptedServer(always: [.forever([.respond { verifier.steps(for: $0) }])])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/v1/",
            configuration: .init(timeouts: .lasting, interceptors: [Signer()])
        )
        #expect(try await session.post("readings", body: .json(["value": 20.5])).string() == "seven")
        #expect(server.requests.map(\.body.isEmpty) == [false, true])
    }
}
