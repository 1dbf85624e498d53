import Dispatch
import FoundationEssentials
import NetworkClient

// What the README's table says of this library, in a program that runs: `ComingFrom URL`, where a server responds to all
// with the JSON of a user.

struct User: Codable, Sendable { var name: String }

let base = CommandLine.arguments.dropFirst().first ?? "https://api.example.com/v1"
let session = try HTTPSession(baseURL: base)

// Requests.
let user = try await session.get("users/7").decoded(User.self)
let (name, page) = ("Ann", 2)
session.get("users", parameters: ["q": name, "page": page])
session.post("users", body: .json(user))
session.post("users", parameters: ["name": "Ann"])

// Parameters in three forms: a literal, variables, and an encodable value.
let variables = ["name": name]
session.get("users", parameters: ["q": "Ann", "page": 2])
session.get("users", parameters: variables)
session.get("users", parameters: user)
session.post("users", parameters: ["name": name])
session.post("users", parameters: variables)
session.post("users", parameters: user)
session.post("users", body: .json(["name": "Ann"]))
session.post("users", body: .json(variables))
session.post("users", parameters: ["name": "Ann"], options: .init(requestSerializer: JSONSerializer()))
session.post("users", parameters: variables, options: .init(requestSerializer: JSONSerializer()))
session.post("users", parameters: user, options: .init(requestSerializer: JSONSerializer()))
session.post("forms", parameters: ["user": "Ann"], body: .multipart([.text("x", name: "report")]))
session.post("forms", parameters: variables, body: .multipart([.text("x", name: "report")]))
session.post("forms", parameters: user, body: .multipart([.text("x", name: "report")]))

// Callbacks.
session.get("users/7").decoded(User.self, on: .global()) { result in print(result) }

// Responses: any status, or only those of success.
let response = try await session.get("users/7").response()
print(response.status, response.head.headerFields, response.buffer, response["Content-Type"])
let anyName = try await session.get("users/7").json()["name"]?.string
print(anyName ?? "no name")
let text = try await session.get("users/7").string()
_ = try await session.delete("users/7").decoded(EmptyResponse.self)
print(text, response.metrics.firstByte ?? .zero, response.metrics.tlsVersion ?? "no TLS")

// One request otherwise than the others.
session.get("users/7", headers: [.accept: "application/json"])
session.get("users/7", options: .init(timeouts: Timeouts(connect: .seconds(5), total: .seconds(30))))

// A request's course.
let request = session.get("users/7")
for await event in request.events { print(event) }
request.cancel()

// Responses as they arrive, files, forms, and several requests as one.
for try await piece in try await session.stream(.get, "users/7").response().body { print(piece) }
let path = CommandLine.arguments.dropFirst(2).first ?? "/dev/null"
let download = session.download("firmware.bin", to: path)
download.pause()
download.resume()
for await step in download.progress { print(step) }
session.upload("files/7", from: .file(path), method: .put)
session.post("forms", parameters: ["user": name], body: .multipart([.file(path, name: "report")]))
session.upload("photos", from: .file(path), options: RequestOptions(tag: "photo", userInfo: page))
for upload in session.requests(of: .upload) { print(upload.tag ?? "no tag", upload.userInfo ?? "no user info") }
let batch = RequestBatch([session.get("users/7"), session.get("users/8")]) { finished, total in print(finished, total) }
for ending in await batch.endings() { print(ending) }

// Errors.
do {
    _ = try await session.get("http://no such host/").response()
} catch {
    print(error.code, error.processing, error.errno ?? 0, error.response?.status ?? "no response", error.body)
}

// Configuration.
struct Log: EventMonitor {
    func request(_ request: RequestHandle, did event: RequestEvent) { print(request.id, event) }
}
let pin = try Pin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
var configuration = HTTPConfiguration(headers: [.authorization: "Bearer …"], eventMonitors: [Log()])
configuration.tls = TLSOptions(policy: SecurityPolicy(mode: .publicKey, pins: [pin]))
configuration.tls.roots = .system
configuration.maximumConnectionsPerHost = 6
configuration.requestSerializer = JSONSerializer()
let decoder = { @Sendable in
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
}
configuration.responseSerializer.decoder = decoder
configuration.responseSerializer.expectation = .jsonOrText
configuration.binding = .interface("wlan0")
configuration.redirects = .refuse
configuration.authentication.credentials = [.init(Credential(user: "ann", password: "…"), for: base)]
configuration.cookies = .store(try CookieStore(file: "cookies.txt"))
configuration.proxy = .all(try ProxyServer("http://proxy.example.com:3128"))

// Waiting for the network, and retrying. A requirement binds by itself.
configuration.binding = .unbound
configuration.gate = .waitsForConnectivity(.seconds(60))
configuration.retry = .standard
configuration.pathLoss = .waitInFlight(.seconds(30))
configuration.allowsCellularAccess = false
session.get("users/7", options: .init(gate: .waitsForConnectivity(.seconds(3))))
session.post("users", body: .json(user), options: .init(idempotencyKey: .random))
session.get("users/7", options: .init(handlesCookies: false))
session.cookies?.removeAll()
_ = try HTTPSession(baseURL: "https://api.example.com/v1", configuration: configuration)

// Not called here, since they write files.
@MainActor func cache(in path: String) throws { configuration.cache = try HTTPCache(folder: path) }
func downloadAsNamed() { session.download("report") { head, name in "/var/spool/\(name)" } }

session.invalidate(.finishingRequests)
