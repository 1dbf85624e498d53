import HTTPLab
import NetworkClient
import NetworkClientTesting
import Testing

/// Requests that require a validated path, before they are sent.
@Suite(.timeLimit(.minutes(5)))
struct ValidatedGateTests {
    @Test(arguments: [PathValidationStatus.portal, .noInternet, .notChecked])
    func `a request waits while the path is not validated, and is sent when it is`(
        status: PathValidationStatus
    ) async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = status
        let request = try lab.session().get("a", options: .init(startsAtOnce: false))
        let reason = try await request.startAndWait()
        let words = [
            PathValidationStatus.portal: "captive portal", .noInternet: "internet", .notChecked: "check",
        ]
        #expect(reason.contains(words[status] ?? ""), "\(reason)")
        try await lab.network.waitUntilValidationIsWatched()
        #expect(lab.lines.isEmpty)
        lab.open()
        lab.network.validationStatus = .validated
        #expect(try await request.string() == "here")
        #expect(lab.lines == ["GET /a"])
        #expect(lab.network.checkCount == 0)
    }

    @Test(arguments: [PathValidationStatus.validated, .inconclusive])
    func `a request is sent over a path that is validated, or that can't be checked`(
        status: PathValidationStatus
    ) async throws {
        let lab = try PortalLab(isClosed: false)
        lab.network.validationStatus = status
        #expect(try await lab.session().get("a").string() == "here")
        #expect(lab.network.checkCount == 0)
    }

    @Test func `nothing is watched any more when no request waits`() async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = .portal
        let session = try lab.session()
        let requests = (0..<3).map { session.get("\($0)") }
        try await lab.network.waitUntilValidationIsWatched()
        for request in requests { request.cancel() }
        for request in requests { _ = try? await request.response() }
        try await lab.network.waitUntilValidationIsUnwatched()
        #expect(lab.lines.isEmpty)
    }

    @Test func `a request that does not wait fails at once behind a portal, and names it`() async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = .portal
        let session = try lab.session(gate: .startsImmediately)
        let error = await #expect(throws: HTTPError.self) { try await session.get("a").response() }
        #expect(error?.code == .pathNotAllowed && error?.processing == .neverSent)
        #expect(error?.reason.contains("captive portal") == true, "\(error.debugDescription)")
        #expect(lab.lines.isEmpty)
    }

    @Test func `a request that does not wait fails once the check has found a portal`() async throws {
        let lab = try PortalLab()
        let request = try lab.session(gate: .startsImmediately).get("a")
        try await lab.network.waitUntilValidationIsWatched()
        lab.network.validationStatus = .portal
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .pathNotAllowed)
    }

    @Test func `a request that waits too long fails with what it waited for`() async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = .portal
        let session = try lab.session(gate: .waitsForConnectivity(.milliseconds(100)))
        let error = await #expect(throws: HTTPError.self) { try await session.get("a").response() }
        #expect(error?.code == .connectivityTimedOut)
        #expect(error?.reason.contains("captive portal") == true, "\(error.debugDescription)")
    }

    @Test func `both requirements must be met`() async throws {
        let lab = try PortalLab(isClosed: false)
        lab.network.validationStatus = .portal
        lab.network.status = .cellular
        let session = try lab.session { $0.requirement = .notCellular }
        let request = session.get("a", options: .init(startsAtOnce: false))
        #expect(try await request.startAndWait().contains("not cellular"))
        lab.network.validationStatus = .validated
        #expect(lab.lines.isEmpty)
        lab.network.validationStatus = .portal
        lab.network.status = .wifi
        let options = RequestOptions(requirement: .any, validationRequirement: .any)
        #expect(try await session.get("other", options: options).string() == "here")
        #expect(!request.isFinished)
        lab.network.validationStatus = .validated
        #expect(try await request.string() == "here")
    }

    @Test func `a single request may leave the requirement off, or have it`() async throws {
        let lab = try PortalLab(isClosed: false)
        lab.network.validationStatus = .portal
        let strict = try lab.session()
        #expect(try await strict.get("a", options: .init(validationRequirement: .any)).string() == "here")
        let lax = try lab.session(.any)
        let waiting = lax.get("b", options: .init(validationRequirement: .validated))
        try await lab.network.waitUntilValidationIsWatched()
        #expect(try await lax.get("c").string() == "here")
        #expect(lab.lines == ["GET /a", "GET /c"])
        lab.network.validationStatus = .validated
        #expect(try await waiting.string() == "here")
    }

    @Test func `requests to this machine don't wait`() async throws {
        let lab = try PortalLab(isClosed: false)
        lab.network.validationStatus = .portal
        let session = try lab.session { $0.proxy = .direct }
        #expect(try await session.get(lab.server.url).string() == "here")
        #expect(try await session.get("http://localhost:\(lab.server.port)/").string() == "here")
        lab.network.validationStatus = .notChecked
        #expect(try await session.get(lab.server.url).response().mayBeFromPortal == false)
        #expect(lab.network.checkCount == 0)
    }

    @Test func `the requirement needs something that validates the path`() async throws {
        let refused = #expect(throws: HTTPError.self) {
            try HTTPSession(configuration: .init(validationRequirement: .validated))
        }
        #expect(refused?.code == .invalidConfiguration)
        let session = try HTTPSession(baseURL: PortalLab.base)
        let options = RequestOptions(validationRequirement: .validated)
        let error = await #expect(throws: HTTPError.self) { try await session.get("a", options: options).response() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `a path that is validated while a request begins to wait is noticed`() async throws {
        let lab = try PortalLab(isClosed: false)
        let session = try lab.session()
        for number in 0..<200 {
            lab.network.validationStatus = [.portal, .notChecked, .noInternet][number % 3]
            let request = session.get("\(number)", options: .init(startsAtOnce: false))
            request.resume()
            lab.network.validationStatus = .validated
            #expect(try await request.string() == "here")
        }
        #expect(lab.lines.count == 200)
    }
}
