import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

struct ProbeMeaningTests {
    private static func result(_ outcome: ProbeOutcome, _ endpoint: ValidationEndpoint = .plain) -> ProbeMeaning {
        .init(outcome, of: endpoint)
    }

    // MARK: HTTP

    @Test func `the expected status is a proof, a stronger one over https`() {
        #expect(Self.result(.noContent) == .succeeded(.content))
        #expect(Self.result(.noContent, .secure) == .succeeded(.authenticated))
    }

    @Test func `a body is compared but for white space at its end`() throws {
        let endpoint = try #require(ValidationEndpoint.http("http://own.example/ok", expecting: .body("success\n")))
        func answer(_ text: String, status: Int = 200) -> ProbeMeaning {
            Self.result(.response(.init(status: status, body: Array(text.utf8))), endpoint)
        }
        #expect(answer("success") == .succeeded(.content))
        #expect(answer("success \r\n\t") == .succeeded(.content))
        #expect(answer(" success") == .portal(nil))
        #expect(answer("success, log in") == .portal(nil))
        #expect(answer("success", status: 203) == .portal(nil))
        #expect(answer("") == .inconclusive("status 200"))
    }

    @Test func `a body that was cut off is a lost connection as far as it is the expected one`() throws {
        let endpoint = try #require(ValidationEndpoint.http("http://own.example/ok", expecting: .body("success\n")))
        func answer(_ text: String) -> ProbeMeaning {
            Self.result(.response(.init(status: 200, body: Array(text.utf8), isCutOff: true)), endpoint)
        }
        #expect(answer("") == .failed(.connectionCut))
        #expect(answer("succ") == .failed(.connectionCut))
        #expect(answer("success") == .succeeded(.content))
        #expect(answer("<html>") == .portal(nil))
    }

    @Test(arguments: ["http://own.example/", "https://own.example/"])
    func `a status that portals answer with, too, is no proof over plain HTTP`(url: String) throws {
        func isProof(_ status: Int, body: [UInt8] = [], isCutOff: Bool = false) throws -> Bool {
            let endpoint = try #require(ValidationEndpoint.http(url, expecting: .status(status)))
            let response = ObservedResponse(status: status, body: body, isCutOff: isCutOff)
            if case .succeeded = Self.result(.response(response), endpoint) { return true }
            return false
        }
        let isSecure = url.hasPrefix("https:")
        #expect(try isProof(200, body: [1]) == isSecure)
        #expect(try isProof(200, isCutOff: true) == isSecure)
        #expect(try isProof(302) == isSecure)
        #expect(try isProof(200))
        #expect(try isProof(204))
        #expect(try isProof(404, body: [1]))
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect to another place is a portal with that page`(status: Int) {
        let page = "http://login.hotel.example/welcome?x=1"
        #expect(Self.result(.redirect(page, status: status)) == .portal(page))
    }

    @Test(arguments: [
        ("/login", "http://own.example/login"), ("login?a", "http://own.example/login?a"),
        ("?a", "http://own.example/generate_204?a"),
        ("//hotel.example", "http://hotel.example/"), ("https://own.example/login", "https://own.example/login"),
        ("http://own.example:8080/generate_204", "http://own.example:8080/generate_204"),
        ("http://hotel.example/a#b", "http://hotel.example/a"),
    ])
    func `a relative redirect is resolved`(location: String, expected: String) {
        #expect(Self.result(.redirect(location)) == .portal(expected))
    }

    @Test(arguments: [
        "https://own.example/generate_204", "https://OWN.example:443/generate_204#x",
        "https://own.example:8443/generate_204",
    ])
    func `a server that moves to https is no portal`(location: String) {
        guard case .inconclusive = Self.result(.redirect(location)) else {
            Issue.record("\(Self.result(.redirect(location)))")
            return
        }
    }

    @Test(arguments: [nil, "", "ftp://x/", "http://u@hotel.example/", "http://"] as [String?])
    func `a redirect without a usable target allows no conclusion or leads to the endpoint itself`(location: String?) {
        let result = Self.result(.response(.init(status: 302, location: location)))
        let isUnresolved = if case .inconclusive = result { true } else { false }
        #expect(isUnresolved || location == "", "\(result)")
    }

    @Test func `a foreign body is a portal without a page`() {
        #expect(Self.result(.loginPage) == .portal(nil))
    }

    @Test func `a response without a body in place of 204 allows no conclusion`() {
        #expect(Self.result(.response(.init(status: 200))) == .inconclusive("status 200"))
    }

    @Test func `511 is a portal`() {
        #expect(Self.result(.response(.init(status: 511, body: [1]))) == .portal(nil))
        #expect(Self.result(.redirect("https://hotel.example/", status: 511)) == .portal("https://hotel.example/"))
    }

    @Test(arguments: [400, 403, 404, 429, 500, 502, 503, 504])
    func `an error over plain HTTP allows no conclusion`(status: Int) {
        #expect(Self.result(.response(.init(status: status, body: [1]))) == .inconclusive("status \(status)"))
    }

    @Test(arguments: [200, 302, 404, 500, 511])
    func `an unexpected answer over https is the endpoint's fault, and proves the path`(status: Int) {
        let response = ObservedResponse(status: status, location: "https://elsewhere.example/", body: [1])
        guard case .endpointFault = Self.result(.response(response), .secure) else {
            Issue.record("\(Self.result(.response(response), .secure))")
            return
        }
    }

    @Test func `407 is a proxy's login, over both`() {
        #expect(Self.result(.response(.init(status: 407))) == .proxyLogin)
        #expect(Self.result(.response(.init(status: 407)), .secure) == .proxyLogin)
        #expect(Self.result(.proxyLogin, .handshake) == .proxyLogin)
    }

    // MARK: Connections

    @Test func `a TLS handshake proves more than a connection`() {
        #expect(Self.result(.connected(isAuthenticated: true), .handshake) == .succeeded(.authenticated))
        #expect(Self.result(.connected(isAuthenticated: false), .connection) == .succeeded(.connection))
    }

    @Test func `a foreign certificate is an interception, an outdated one is not`() {
        #expect(Self.result(.certificateRefused("self-signed"), .handshake) == .interception("self-signed"))
        #expect(Self.result(.certificateOutdated("expired"), .secure) == .inconclusive("expired"))
    }

    @Test(arguments: [
        ProbeFailure.timedOut, .refused, .unreachable, .connectionCut, .nameServer, .unknownName,
    ])
    func `a failure stays one`(failure: ProbeFailure) {
        #expect(Self.result(.failed(failure), .connection) == .failed(failure))
    }

    // MARK: Names

    private static let addresses: [IPAddress] = [.init(ipv4: 0xC000_0207), .init(ipv4: 0xC000_0208)]

    @Test func `any answer of a name server will do, unless an answer is expected`() {
        #expect(Self.result(.nameAnswer(code: 0, addresses: Self.addresses), .name) == .succeeded(.connection))
        #expect(Self.result(.nameAnswer(code: 3, addresses: []), .name) == .succeeded(.connection))
        #expect(Self.result(.nameAnswer(code: 2, addresses: []), .name) == .failed(.nameServer))
        #expect(Self.result(.nameAnswer(code: 5, addresses: []), .name) == .failed(.nameServer))
    }

    @Test func `a name server that lies about a name is a portal`() {
        let name = ValidationEndpoint.dns("own.example", expecting: .addresses(Set(Self.addresses)))
        #expect(Self.result(.nameAnswer(code: 0, addresses: [Self.addresses[0]]), name) == .succeeded(.connection))
        #expect(Self.result(.nameAnswer(code: 0, addresses: Self.addresses + [.init(ipv4: 1)]), name) == .portal(nil))
        #expect(Self.result(.nameAnswer(code: 3, addresses: []), name) == .failed(.unknownName))
        #expect(Self.result(.nameAnswer(code: 0, addresses: []), name) == .inconclusive("the name has no address"))
    }

    @Test func `a name server that answers for names that do not exist is a portal`() {
        let name = ValidationEndpoint.dns("none.own.example", expecting: .nameError)
        #expect(Self.result(.nameAnswer(code: 3, addresses: []), name) == .succeeded(.connection))
        #expect(Self.result(.nameAnswer(code: 0, addresses: Self.addresses), name) == .portal(nil))
    }

    @Test func `an answer to another kind of question allows no conclusion`() {
        #expect(Self.result(.noContent, .name) == .inconclusive("an answer to another question"))
        #expect(
            Self.result(.nameAnswer(code: 0, addresses: []), .plain) == .inconclusive("an answer to another question")
        )
    }
}
