import HTTPLab
import HTTPTypes
import NIOCore
import NetworkClientCore
import NetworkClientTesting
import Testing

@testable import NetworkClient

/// Responses on paths that are not validated: what is returned, stored and sent again.
@Suite(.timeLimit(.minutes(5)))
struct ValidationStageTests {
    /// Makes a lab whose path is validated until the first request arrives, which the portal then answers.
    private static func lab(
        becoming status: PathValidationStatus,
        then checks: PathValidationStatus...,
        portal: ServerStep = PortalLab.login
    ) throws -> PortalLab {
        let isFirst = Observed(true)
        let network = Observed<ScriptedMonitor?>(nil)
        let lab = try PortalLab(isClosed: false) { _ in
            guard
                isFirst.update({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return [.response("here")] }
            network.value?.validationStatus = status
            return [portal]
        }
        network.update { [monitor = lab.network] in $0 = monitor }
        lab.network.validationStatus = .validated
        lab.network.checkResults = checks
        return lab
    }

    // MARK: Requests that require a validated path

    @Test func `a portal's response to a request under way is not returned: the request waits, and is sent again`()
        async throws
    {
        let lab = try Self.lab(becoming: .portal)
        let session = try lab.session()
        let request = session.get("a")
        try await lab.network.waitUntilValidationIsWatched()
        #expect(lab.lines == ["GET /a"] && lab.network.checkCount == 1)
        #expect(session.cookies?.cookies.isEmpty == true)
        lab.network.validationStatus = .validated
        #expect(try await request.string() == "here")
        #expect(lab.lines == ["GET /a", "GET /a"])
    }

    @Test(arguments: [PathValidationStatus.validated, .inconclusive])
    func `a request that may be repeated is, if the check finds no portal`(result: PathValidationStatus) async throws {
        let lab = try Self.lab(becoming: .notChecked, then: result)
        #expect(try await lab.session(retry: .never).get("a").string() == "here")
        #expect(lab.lines == ["GET /a", "GET /a"] && lab.network.checkCount == 1)
    }

    @Test func `a request that may not be repeated gets its response after the check, and the cookies are stored`()
        async throws
    {
        let lab = try Self.lab(
            becoming: .notChecked,
            then: .validated,
            portal: .response("done", headers: ["Set-Cookie: a=1"])
        )
        let session = try lab.session()
        let response = try await session.post("a", body: .bytes([1])).response()
        #expect(String(decoding: response.bytes, as: UTF8.self) == "done" && !response.mayBeFromPortal)
        #expect(session.cookies?.cookies.map(\.name) == ["a"])
        #expect(lab.lines == ["POST /a"])
    }

    @Test func `a request that may not be repeated fails behind a portal, and is sent once`() async throws {
        let lab = try Self.lab(becoming: .portal)
        let session = try lab.session()
        let error = await #expect(throws: HTTPError.self) {
            try await session.post("a", body: .bytes([1])).response()
        }
        #expect(error?.code == .pathNotValidated && error?.processing == .answered)
        #expect(error?.reason.contains("captive portal") == true, "\(error.debugDescription)")
        #expect(session.cookies?.cookies.isEmpty == true)
        lab.network.validationStatus = .validated
        #expect(try await session.get("b").string() == "here")
        #expect(lab.lines == ["POST /a", "GET /b"])
    }

    @Test func `a request with an idempotency key waits, and is sent again`() async throws {
        let lab = try Self.lab(becoming: .portal)
        let session = try lab.session()
        let options = RequestOptions(idempotencyKey: .random)
        let request = session.post("a", body: .bytes([1]), options: options)
        try await lab.network.waitUntilValidationIsWatched()
        lab.network.validationStatus = .validated
        #expect(try await request.string() == "here")
        #expect(Set(lab.server.requests.value.map { $0["Idempotency-Key"] }).count == 1)
        #expect(lab.lines == ["POST /a", "POST /a"])
    }

    @Test func `a request that was sent does not wait without a retry policy`() async throws {
        let lab = try Self.lab(becoming: .portal)
        let session = try lab.session(retry: .never)
        let error = await #expect(throws: HTTPError.self) { try await session.get("a").response() }
        #expect(error?.code == .pathNotValidated)
    }

    @Test func `a portal's redirect is not followed`() async throws {
        let redirect = ServerStep.response(status: "302 Found", headers: ["Location: http://hotel.example/login"])
        let lab = try Self.lab(becoming: .portal, portal: redirect)
        let request = try lab.session().get("a")
        try await lab.network.waitUntilValidationIsWatched()
        lab.network.validationStatus = .validated
        #expect(try await request.string() == "here")
        #expect(lab.lines == ["GET /a", "GET /a"])
    }

    @Test func `a download's file and a stream get nothing of a portal's page`() async throws {
        let folder = try LabFolder()
        for kind in ["download", "stream"] {
            let lab = try Self.lab(becoming: .portal)
            let session = try lab.session()
            let download = kind == "download" ? session.download("a", to: "\(folder.path)/file") : nil
            let stream = kind == "stream" ? session.stream(.get, "a") : nil
            try await lab.network.waitUntilValidationIsWatched()
            lab.network.validationStatus = .validated
            if let download { #expect(try await download.response().file.size == 4) }
            if let stream {
                let body = try await stream.response().body.collect(upTo: 1_000)
                #expect(String(buffer: body) == "here")
            }
            #expect(lab.lines == ["GET /a", "GET /a"])
        }
    }

    @Test func `a stream that may not be repeated is withheld until the check, and delivered whole`() async throws {
        let lab = try Self.lab(becoming: .notChecked, then: .validated)
        let stream = try lab.session().stream(.post, "a", body: .bytes([1]))
        let body = try await stream.response().body.collect(upTo: 1_000)
        #expect(String(buffer: body) == "<html>Log in</html>")
        #expect(lab.lines == ["POST /a"])
    }

    @Test func `a stored response is used behind a portal where it may be stale, and stays as it is`() async throws {
        let lab = try PortalLab(isClosed: false) { _ in
            [.response("one", headers: ["Cache-Control: max-age=0, stale-if-error=1000", "ETag: \"a\""])]
        }
        lab.network.validationStatus = .validated
        let session = try lab.session { $0.cache = HTTPCache() }
        #expect(try await session.get("a").response().source == .network)
        lab.close()
        lab.network.validationStatus = .portal
        let stale = try await session.get("a").response()
        #expect(stale.source == .stale(.noPath) && stale.bytes == Array("one".utf8) && !stale.mayBeFromPortal)
        #expect(lab.lines == ["GET /a"])
    }

    // MARK: Requests that take any response

    @Test(arguments: [PathValidationStatus.portal, .noInternet])
    func `a response of a portal is marked, and neither it nor its cookies are stored`(
        status: PathValidationStatus
    ) async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = status
        let session = try lab.session(.any) { $0.cache = HTTPCache() }
        let response = try await session.get("a").response()
        #expect(response.mayBeFromPortal && response.status == 200)
        #expect(session.cookies?.cookies.isEmpty == true && session.configuration.cache?.size == 0)
        lab.open()
        lab.network.validationStatus = .validated
        let genuine = try await session.get("a").response()
        #expect(genuine.bytes == Array("here".utf8) && !genuine.mayBeFromPortal && genuine.source == .network)
        #expect(lab.network.checkCount == 0)
    }

    @Test func `a portal can't renew or remove what is stored`() async throws {
        let lab = try PortalLab(isClosed: false) { _ in
            [.response("one", headers: ["Cache-Control: max-age=0", "ETag: \"a\""])]
        }
        lab.network.validationStatus = .validated
        let session = try lab.session(.any) { $0.cache = HTTPCache() }
        _ = try await session.get("a").response()
        lab.network.validationStatus = .portal
        lab.close(with: [.send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=1000\r\n\r\n")])
        let validated = try await session.get("a").response()
        #expect(validated.bytes == Array("one".utf8) && !validated.mayBeFromPortal)
        lab.close()
        _ = try await session.delete("a").response()
        lab.network.validationStatus = .validated
        lab.open()
        // It would be fresh if the portal had renewed it, and would not be validated if the portal had removed it.
        _ = try await session.get("a").response()
        #expect(lab.server.requests.value.map { $0["If-None-Match"] } == [nil, "\"a\"", nil, "\"a\""])
    }

    @Test func `a path that was not checked is, and the response is returned without being sent again`() async throws {
        for (result, isPortal) in [(PathValidationStatus.validated, false), (.inconclusive, false), (.portal, true)] {
            let lab = try PortalLab()
            lab.network.checkResults = [result]
            let session = try lab.session(.any)
            let response = try await session.get("a").response()
            #expect(response.mayBeFromPortal == isPortal)
            #expect(session.cookies?.cookies.isEmpty == isPortal)
            #expect(lab.lines == ["GET /a"] && lab.network.checkCount == 1)
        }
    }

    @Test func `what follows a portal's redirect is the portal's`() async throws {
        let network = Observed<ScriptedMonitor?>(nil)
        let lab = try PortalLab(isClosed: false) { request in
            guard request.target.hasSuffix("/a") else {
                network.value?.validationStatus = .validated
                return [PortalLab.login]
            }
            return [
                .response(status: "302 Found", headers: ["Location: http://hotel.example/login", "Set-Cookie: a=1"])
            ]
        }
        network.update { [monitor = lab.network] in $0 = monitor }
        lab.network.validationStatus = .portal
        let session = try lab.session(.any)
        let response = try await session.get("a").response()
        #expect(response.mayBeFromPortal && response.redirects.count == 1)
        #expect(session.cookies?.cookies.isEmpty == true)
    }

    @Test func `a response over TLS is the server's, except after a redirect over plain HTTP`() async throws {
        let transport = ScriptedTransport()
        transport.expect(.get, "/secure", .text("yes"))
        transport.expect(.get, "/plain", .status(.found, headers: [.location: "https://shop.example/secure"]))
        transport.expect(.get, "/secure", .text("page"))
        let network = ScriptedMonitor()
        network.validationStatus = .portal
        let session = try HTTPSession(
            configuration: .init(timeouts: .lasting, transport: transport, validation: network)
        )
        #expect(try await session.get("https://shop.example/secure").response().mayBeFromPortal == false)
        #expect(try await session.get("http://shop.example/plain").response().mayBeFromPortal)
        let insecure = TLSOptions(policy: .insecure)
        transport.expect(.get, "/secure", .text("page"))
        let unproven = session.get("https://shop.example/secure", options: .init(tls: insecure))
        #expect(try await unproven.response().mayBeFromPortal)
    }

    // MARK: The check

    /// A source whose check does not end before the test lets it.
    private struct HeldCheck: PathValidation {
        let isHeld = Observed(true)
        let count = Observed(0)

        var validationStatus: PathValidationStatus { isHeld.value ? .notChecked : .validated }

        func revalidate() async -> PathValidationStatus {
            count.update { $0 += 1 }
            _ = try? await isHeld.wait(for: "the end of the check") { !$0 }
            return .validated
        }

        func watchValidation(_ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch { Watch() }

        private struct Watch: ConnectivityWatch {
            func cancel() {}
        }
    }

    @Test func `a request is cancelled during the check, and a pause defers its result`() async throws {
        let lab = try PortalLab(isClosed: false)
        let check = HeldCheck()
        let session = try lab.session(.any) { $0.validation = check }
        let cancelled = session.get("a")
        try await check.count.wait(for: "the check") { $0 == 1 }
        cancelled.cancel()
        let error = await #expect(throws: HTTPError.self) { try await cancelled.response() }
        #expect(error?.code == .cancelled)
        let paused = session.get("b")
        try await check.count.wait(for: "the check") { $0 == 2 }
        paused.pause()
        check.isHeld.update { $0 = false }
        #expect(try await session.get("c").string() == "here")
        #expect(!paused.isFinished)
        paused.resume()
        #expect(try await paused.string() == "here")
        #expect(lab.lines == ["GET /a", "GET /b", "GET /c"])
    }

    @Test func `the deadline of a request holds during the check`() async throws {
        let lab = try PortalLab(isClosed: false)
        let session = try lab.session(.any) { $0.validation = HeldCheck() }
        var timeouts = Timeouts.lasting
        timeouts.total = .milliseconds(200)
        let request = session.get("a", options: .init(timeouts: timeouts))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .requestTimedOut)
    }

    @Test func `a session without validation has no such stage, and asks nothing`() async throws {
        let lab = try PortalLab()
        lab.network.validationStatus = .portal
        let session = try lab.session(.any, gate: .startsImmediately, retry: .never) {
            $0.validation = nil
            $0.connectivity = nil
        }
        let response = try await session.get("a").response()
        #expect(!response.mayBeFromPortal && session.cookies?.cookies.count == 1)
        #expect(lab.network.checkCount == 0)
    }
}
