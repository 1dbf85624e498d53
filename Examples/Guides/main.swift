import EventService
import Foundation
import FoundationXML
import Logging
import NetworkClient
import NetworkClientEventService
import NetworkClientFoundation
import NetworkClientNegotiate
import NetworkClientObservability
import NetworkClientServiceLifecycle
import NetworkClientTesting
import Outbox
import Reachability
import ResourceLoader
import ServiceLifecycle
import UnixSignals
import Validation

// The code of the articles in the documentation catalogues: `Guides TASK [ARGUMENT]`.

/// Signs the user in with Kerberos.
func intranetSession() throws -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.authentication.negotiate = .init(for: ["https://intranet.example.com"])
    return try HTTPSession(baseURL: "https://intranet.example.com", configuration: configuration)
}

/// Pins the public key of a certificate file.
func pinnedSession(certificate path: String) throws -> HTTPSession {
    let pin = try Pin(file: path)
    let policy = SecurityPolicy(mode: .publicKey, pins: [pin])
    return try HTTPSession(
        baseURL: "https://device.example.com/v1",
        configuration: .init(tls: TLSOptions(policy: policy))
    )
}

/// Waits for the network before each request, and retries.
func waitingSession() throws -> HTTPSession {
    try HTTPSession(
        baseURL: "https://api.example.com/v1",
        configuration: .init(gate: .waitsForConnectivity(.seconds(60)), retry: .standard)
    )
}

/// Keeps a reading on disk until it is delivered.
func keepReading(_ reading: [String: Double], in folder: String) async throws {
    let outbox = try await Outbox(at: folder, session: waitingSession())
    try await outbox.lane("telemetry", to: "https://api.example.com/v1").post("readings", .json(reading))
    await outbox.shutdown()
}

/// Prints whether the current path leads to the internet.
func followVerdicts() async throws {
    let endpoints = [
        ValidationEndpoint.http("http://status.example.com/generate_204"), .tls("api.example.com"),
    ]
    let validator = try PathValidator(endpoints: endpoints.compactMap(\.self))
    for await report in validator.verdicts {
        switch report.verdict {
        case .validated: print("online over \(report.path?.name ?? "")")
        case .portal(let portal): print("log in at \(portal.loginURL ?? "the network's page")")
        case .noInternet(let reason): print("no internet: \(reason.name)")
        case .notChecked: print("not checked")
        }
    }
}

/// A session whose requests wait while a captive portal holds the line.
func sessionBehindPortals(_ validator: PathValidator) throws -> HTTPSession {
    let configuration = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(600)), retry: .standard)
    return try HTTPSession(
        baseURL: "https://api.example.com/v1",
        configuration: validator.gating(configuration)
    )
}

/// Sends a request over plain HTTP, which waits while a captive portal holds the line.
func sendBehindPortals() async throws {
    let endpoint = ValidationEndpoint.http("http://status.example.com/generate_204")
    let validator = try PathValidator(endpoints: [endpoint].compactMap(\.self))
    let waiting = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(600)), retry: .standard)
    let session = try HTTPSession(configuration: validator.gating(waiting))
    print(try await session.get("http://device.example.com/status").string())
}

/// Prints each path with the verdict on it.
func followPaths(of validator: PathValidator) async {
    for await change in validator.changes {
        print(change.path.status, change.validation.verdict)
    }
}

/// A session for a service that speaks HTTP/2 without TLS.
func sessionForLocalService() throws -> HTTPSession {
    try HTTPSession(baseURL: "http://127.0.0.1:8080", configuration: .init(http2: .priorKnowledge))
}

/// A session for a server whose HTTP/2 is broken.
func sessionWithoutHTTP2() throws -> HTTPSession {
    try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(http2: .off))
}

/// A session whose cookies outlive the process, in a file that curl reads and writes too.
func sessionWithCookies(in file: String) throws -> HTTPSession {
    let store = try CookieStore(file: file)
    return try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(cookies: .store(store)))
}

/// Signs out: forgets the cookies of one site.
func forgetCookies(of site: String, in session: HTTPSession) {
    session.cookies?.remove { $0.domain == site || $0.domain.hasSuffix(".\(site)") }
}

/// Adds a cookie that another program has received.
func addCookie(_ value: String, to session: HTTPSession) throws {
    let cookie = Cookie(name: "sid", value: value, domain: "api.example.com", isSecure: true)
    try session.cookies?.insert(cookie)
}

/// A session whose responses outlive the process.
func sessionWithCache(in folder: String) throws -> HTTPSession {
    let cache = try HTTPCache(folder: folder, limit: 100 << 20)
    return try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(cache: cache))
}

/// Prints a resource, and how old it is.
func printForecast(in session: HTTPSession) async throws {
    let response = try await session.get("forecast").response()
    switch response.source {
    case .network, .validated: print("current")
    case .cache: print("fresh, stored \(response.age ?? .zero) ago")
    case .stale(let reason): print("stale (\(reason)), stored \(response.age ?? .zero) ago")
    }
}

/// A configuration that stores images only, for an hour at least.
func configurationForImages(_ cache: HTTPCache) -> HTTPConfiguration {
    HTTPConfiguration(
        cache: cache,
        willCache: { _, response in
            guard response.headerFields[.contentType]?.hasPrefix("image/") == true else { return nil }
            var stored = response
            stored.headerFields[.cacheControl] = "max-age=3600"
            return stored
        }
    )
}

/// A decoded picture.
struct Picture: Sendable {
    let pixels: [UInt8]

    init(bytes: [UInt8]) throws { pixels = bytes }
}

/// Loads pictures and shows each as soon as it is there.
func showPictures(
    _ names: [String],
    session: HTTPSession,
    show: @escaping @Sendable (String, Picture) -> Void
) async throws {
    let options = ResourceLoaderOptions(maximumActiveLoads: 4, order: .lastInFirstOut, memoryLimit: 50 << 20)
    let loader = ResourceLoader(session: session, options: options) { response in try Picture(bytes: response.bytes) }
    let receipts = names.map { name in
        loader.load("pictures/\(name)") { result in
            if case .success(let picture) = result { show(name, picture) }
        }
    }
    // The user has scrolled past the first one: other callers of the same picture still get it.
    receipts.first?.cancel()
    if let last = names.last { show(last, try await loader.value(for: "pictures/\(last)", priority: .high)) }
}

/// A session whose activity switches a light, but not for less than a second.
func sessionWithLight(_ light: @escaping @Sendable (Bool) -> Void) throws -> HTTPSession {
    let indicator = ActivityIndicator(startDelay: .seconds(1), endDelay: .milliseconds(170)) { light($0.isVisible) }
    return try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(eventMonitors: [indicator]))
}

/// Waits for the network for three seconds at most.
func readSoon(with session: HTTPSession) async throws -> String {
    let options = RequestOptions(gate: .waitsForConnectivity(.seconds(3)))
    return try await session.get("status", options: options).string()
}

/// Downloads a file, or the rest of it.
func download(_ url: String, to path: String, with session: HTTPSession) async throws {
    let request = session.download(url, to: path)
    for await progress in request.progress { print(progress.received, "of", progress.toReceive ?? 0) }
    let file = try await request.response().file
    print(file.size, "bytes,", file.resumedFrom, "of them from an earlier attempt")
}

/// Downloads a file to a URL.
func downloadFirmware(from url: URL, with session: HTTPSession) async throws -> URL? {
    let file = URL(filePath: "/var/lib/device/firmware.bin")
    return try await session.download(url, to: file).response().file.url
}

/// Measures and traces the requests of a session.
func observedSession() throws -> HTTPSession {
    var configuration = HTTPConfiguration(eventMonitors: [RequestMeter()], retry: .standard)
    configuration.trace(with: RequestTracer())
    return try HTTPSession(baseURL: "https://api.example.com/v1", configuration: configuration)
}

/// Runs a service, and shuts its session down with it.
func run(_ application: any Service, with session: HTTPSession, logger: Logger) async throws {
    let services: [any Service] = [HTTPSessionService(session, within: .seconds(5)), application]
    let group = ServiceGroup(services: services, gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}

/// Responds to requests in place of a server.
struct StubTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.head.path == "/v1/users/7" else { return .init(head: .init(status: .notFound)) }
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        return .init(head: head, body: Array(#"{"name": "Ann"}"#.utf8))
    }
}

/// Reads the name of a user.
func userName(_ id: Int, with session: HTTPSession) async throws -> String {
    struct User: Decodable { var name: String }
    return try await session.get("users/\(id)").decoded(User.self).name
}

/// Runs code of the program against the stub.
func testUserName() async throws {
    let configuration = HTTPConfiguration(transport: StubTransport())
    let session = try HTTPSession(baseURL: "https://api.example.com/v1", configuration: configuration)
    print(try await userName(7, with: session))
    do throws(HTTPError) {
        _ = try await session.get("users/8").string()
    } catch {
        print(error.code, error.response?.status.code ?? 0)
    }
}

/// Returns a session of a test, with a script in place of the server and the network.
func scriptedSession(_ transport: ScriptedTransport, _ network: ScriptedMonitor = .init()) throws -> HTTPSession {
    try HTTPSession(
        baseURL: "https://api.example.com/v1",
        configuration: .init(
            transport: transport,
            gate: .waitsForConnectivity(nil),
            retry: RetryPolicy(baseDelay: .zero),
            addsIdempotencyKeys: true,
            connectivity: network
        )
    )
}

/// Tests that a reading is sent when the network is back, and again after a failure.
func testReadingWaits() async throws {
    let network = ScriptedMonitor(.notReachable)
    let transport = ScriptedTransport()
    transport.expect(.post, "/v1/readings", .failure(.connectionLost, .maybeProcessed), .status(.created))
    let session = try scriptedSession(transport, network)
    let request = session.post("readings", body: .json(["value": 20.5]))
    try await network.waitUntilWatched()
    print("offline:", transport.requests.count)
    network.status = .cellular
    print("online:", try await request.response().status, transport.requests.count)
    try transport.verify()
}

/// Tests that a user is found or missing, whatever the order of the requests.
func testUsers() async throws {
    let transport = ScriptedTransport()
    transport.expect(.get, "/v1/users/8", .json(#"{"error": "no such user"}"#, status: .notFound))
    transport.expect(.get, "/v1/users/7", .json(#"{"name": "Ann"}"#))
    let session = try scriptedSession(transport)
    print("found:", try await userName(7, with: session))
    do throws(HTTPError) {
        _ = try await session.get("users/8").bytes()
    } catch {
        print("missing:", error.code, String(decoding: error.body, as: UTF8.self))
    }
    try transport.verify()
}

/// Tests that a request that is cancelled while the server works fails.
func testCancellation() async throws {
    let transport = ScriptedTransport()
    transport.expect(.get, "/v1/slow", .text("late").held(until: ScriptedSignal()))
    let request = try scriptedSession(transport).get("slow")
    try await transport.requests(count: 1)
    request.cancel()
    do throws(HTTPError) {
        print(try await request.string())
    } catch {
        print("cancelled:", error.code)
    }
}

/// Tests that a download continues after its connection was lost.
func testBrokenDownload(to path: String) async throws {
    let transport = ScriptedTransport()
    let lost = HTTPError(.bodyTruncated, processing: .answered, reason: "the link is gone")
    transport.expect(
        .get,
        "/v1/firmware.bin",
        .parts([[1, 2], [3]], headers: [.eTag: #""v1""#, .contentLength: "4"], failure: lost)
    )
    transport.expect(
        .get,
        "/v1/firmware.bin",
        .parts([[4]], status: .partialContent, headers: [.eTag: #""v1""#, .contentRange: "bytes 3-3/4"])
    ) { request in request.head.headerFields[.range] == "bytes=3-" }
    let session = try scriptedSession(transport)
    let file = try await session.download("firmware.bin", to: path).response().file
    print("downloaded:", file.size, file.resumedFrom)
    try transport.verify()
}

/// Downloads the firmware, and continues where an earlier attempt ended.
func updateFirmware(with session: HTTPSession) async throws {
    let request = session.download("firmware.bin", to: "/var/lib/device/firmware.bin")
    let file = try await request.response().file
    print(file.size, file.resumedFrom)
}

/// Writes the response to a POST to a file.
func store(_ query: [String: Int], with session: HTTPSession) async throws -> DownloadedFile {
    let output = BodyOutput.file("/tmp/report.pdf")  // or .descriptor(1)
    let request = session.download("reports", to: output, method: .post, body: .json(query))
    return try await request.response().file
}

/// Downloads a report under the name that the server suggests.
func downloadReport(with session: HTTPSession) async throws -> String? {
    let request = session.download("reports", method: .post, parameters: ["month": 5]) { _, name in
        "/var/spool/reports/\(name)"
    }
    return try await request.response().file.path
}

/// Keeps small responses in memory, and writes large ones to files.
func results(of query: String, with session: HTTPSession) async throws -> DataResponse {
    let options = RequestOptions(becomesDownload: { head, name in
        let size = head.headerFields[.contentLength].flatMap { Int($0) }
        return size.map { $0 < 1 << 20 } == true ? nil : "/var/spool/results/\(name)"
    })
    return try await session.get("results", parameters: ["q": query], options: options).response()
}

/// Decides by the head of a response whether it is followed or stored.
func followOrStore(_ reference: String, with session: HTTPSession) async throws {
    let response = try await session.stream(.get, reference).response()
    if response.head.headerFields[.contentType] == "application/x-ndjson" {
        for try await piece in response.body { print(piece) }
    } else {
        let file = try await response.body.save(to: .file("/var/spool/\(response.suggestedFileName)"))
        print(file.path ?? "", file.size)
    }
}

/// Pauses the uploads of photos.
func pausePhotos(of session: HTTPSession) {
    for upload in session.requests(of: .upload) where upload.tag == "photo" { upload.pause() }
}

/// Uploads a photo, and shows how much of it has been sent.
func upload(photo path: String, with session: HTTPSession) async throws {
    let request = session.upload("photos", from: .file(path), options: .init(tag: "photo"))
    request.onProgress(on: .main) { print($0.sent, "of", $0.toSend ?? 0) }
    _ = try await request.bytes()
}

/// Returns the progress of several uploads together, which also pauses and cancels them.
func progress(of uploads: [DataRequest]) -> Progress {
    let whole = Progress(totalUnitCount: Int64(uploads.count))
    for upload in uploads { whole.addChild(upload.uploadProgress(), withPendingUnitCount: 1) }
    return whole
}

/// Follows the path to the internet.
func followPath() async throws {
    let monitor = try ReachabilityMonitor()
    for await change in monitor.changes {
        let interface = change.path.interface?.name ?? "no interface"
        print(change.status.name, interface, change.reasons.map(\.rawValue))
    }
}

/// Follows the paths to a server.
func followServer(_ host: String) async throws {
    let monitor = try ReachabilityMonitor()
    for await server in monitor.paths(to: host) {
        print(server.isReachable, server.best?.interface?.name ?? "no interface")
    }
}

/// Encodes a form.
func encodedForm() throws -> MultipartBody {
    let form: MultipartForm = [
        .text("Ann", name: "user"),
        .bytes([0x89, 0x50, 0x4E, 0x47], name: "icon", fileName: "icon.png"),
    ]
    return try form.encoded(boundary: "4Gv8mUqz0XcPaLr2")
}

/// Sends parameters from variables, and reads JSON.
func names(matching name: String, page: Int, cursor: String?, with session: HTTPSession) async throws -> [String] {
    let request = session.get("users", parameters: ["q": name, "page": page, "tags": ["a", "b"], "cursor": cursor])
    let users = try await request.json()
    return users["items"]?.array?.compactMap { $0["name"]?.string } ?? []
}

/// The parameters of a search for tasks.
struct TaskFilter: Encodable {
    var isOpen = true
    var owner: String?
}

/// Sends the properties of a value as parameters.
func openTasks(of owner: String, with session: HTTPSession) async throws -> Int? {
    try await session.get("tasks", parameters: TaskFilter(owner: owner)).json()["count"]?.int
}

/// Sends a form with fields and a file.
func send(report path: String, by user: String, with session: HTTPSession) async throws {
    let file = MultipartPart.file(path, name: "report")
    _ = try await session.post("reports", parameters: ["user": user], body: .multipart([file])).bytes()
}

/// Sends Booleans as 1 and 0, and dates as seconds.
func sessionInOtherFormats() throws -> HTTPSession {
    let options = ParameterOptions(dates: .secondsSince1970, booleans: .numeric, arrays: .noBrackets)
    let serializer = FormSerializer(options: options)
    return try HTTPSession(
        baseURL: "https://api.example.com/v1",
        configuration: .init(requestSerializer: serializer)
    )
}

/// Returns the member of a value in JSON.
func identifier(in text: String) throws -> UInt64? {
    let value = try JSONValue(parsing: text.utf8)
    return value["user"]?["id"]?.number?.integer()
}

/// Sends all requests to the paths of an account.
struct AccountSerializer: RequestSerializer {
    var inner: any RequestSerializer = JSONSerializer()
    var account: String

    var options: ParameterOptions { inner.options }

    func serialize(
        _ request: SerializedRequest,
        parameters: Parameters?
    ) throws(RequestSerializationError) -> SerializedRequest {
        var request = request
        request.head.path = "/accounts/\(account)\(request.head.path ?? "/")"
        return try inner.serialize(request, parameters: parameters)
    }
}

/// Decodes keys in snake case, from JSON that may be served as text.
func sessionForSnakeCase() throws -> HTTPSession {
    var configuration = HTTPConfiguration()
    configuration.responseSerializer.expectation = .jsonOrText
    configuration.responseSerializer.decoder = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
    return try HTTPSession(baseURL: "https://api.example.com/v1", configuration: configuration)
}

/// The responses of a server that describes problems in a format of their own.
enum Reply: Sendable {
    case names([String])
    case problem(JSONValue)
}

func reply(with session: HTTPSession) async throws -> Reply? {
    let problems = ResponseExpectation(statuses: Set(400...499), mediaTypes: ["application/problem+json"])
    let serializer = CompoundResponseSerializer<Reply>([
        DecodableResponseSerializer<[String]>().map(Reply.names),
        JSONResponseSerializer(expectation: problems).map(Reply.problem),
    ])
    guard case .value(let reply) = try await session.get("names").value(serializer) else { return nil }
    return reply
}

/// Reads the titles of a feed.
func titles(with session: HTTPSession) async throws -> [String] {
    let feed = try await session.get("feed.xml").xmlDocument()
    return try feed.nodes(forXPath: "//item/title").compactMap(\.stringValue)
}

/// Sends a request of an account.
func accountName(with session: HTTPSession) async throws -> String {
    let options = RequestOptions(requestSerializer: AccountSerializer(account: "ann"))
    return try await session.get("name", options: options).string()
}

/// Prints the events of the event service.
func followService() async {
    for await event in NetwatchEvents() {
        print(event.change.status.name, event.change.path.interface?.name ?? "no interface")
        if let gap = event.gap { print("missed:", gap.missed.map(String.init) ?? "an unknown number") }
    }
}

/// Returns a session whose requests wait for the network as the event service knows it.
func serviceSession() throws -> HTTPSession {
    let configuration = HTTPConfiguration(gate: .waitsForConnectivity(.seconds(60)), connectivity: NetwatchEvents())
    return try HTTPSession(baseURL: "https://api.example.com", configuration: configuration)
}

let arguments = CommandLine.arguments
let argument = arguments.count > 2 ? arguments[2] : ""
switch arguments.dropFirst().first {
case "pin": print(try await userName(7, with: pinnedSession(certificate: argument)))
case "wait": print(try await readSoon(with: waitingSession()))
case "download": try await download(argument, to: "download", with: waitingSession())
case "follow": if argument.isEmpty { try await followPath() } else { try await followServer(argument) }
case "service": await followService()
case "service-session": print(try await userName(7, with: serviceSession()))
case "names": print(try await names(matching: argument, page: 1, cursor: nil, with: waitingSession()))
case "tasks": print(try await openTasks(of: argument, with: waitingSession()) ?? 0)
case "report": try await send(report: argument, by: "Ann", with: sessionInOtherFormats())
case "id": print(try identifier(in: argument) ?? 0)
case "report-file": print(try await downloadReport(with: waitingSession()) ?? "")
case "firmware": try await updateFirmware(with: waitingSession())
case "post-file": print(try await store(["month": 5], with: waitingSession()).size)
case "results": print(try await results(of: argument, with: waitingSession()).file?.path ?? "memory")
case "store": try await followOrStore(argument, with: waitingSession())
case "photo":
    let session = try waitingSession()
    try await upload(photo: argument, with: session)
    pausePhotos(of: session)
    print(progress(of: []).fractionCompleted)
case "script":
    try await testUsers()
    try await testReadingWaits()
    try await testCancellation()
    try await testBrokenDownload(to: argument)
case "reply": print(try await reply(with: sessionForSnakeCase()) as Any)
case "titles": print(try await titles(with: waitingSession()))
case "account": print(try await accountName(with: waitingSession()))
case "form": print(try encodedForm().contentType)
default: try await testUserName()
}
