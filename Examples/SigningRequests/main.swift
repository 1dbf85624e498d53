import Crypto
import NetworkClient

/// Signs each attempt with a shared key.
struct Signer: RequestInterceptor {
    let key: SymmetricKey

    func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) async throws -> HTTPRequest {
        var signed = request
        let text = "\(request.method) \(request.path ?? "/")\n"
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8) + (attempt.body ?? []), using: key)
        let digits = code.map { String(UInt16($0) | 256, radix: 16).dropFirst() }.joined()
        signed.headerFields[.authorization] = "HMAC \(digits)"
        return signed
    }
}

let base = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1"
let signer = Signer(key: .init(data: Array("shared secret".utf8)))
let session = try HTTPSession(baseURL: base, configuration: .init(interceptors: [signer]))
print(try await session.post("readings", body: .json(["value": 20.5])).response().status)
