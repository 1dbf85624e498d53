import Glibc
import HTTPLab
import NIOPosix
import NetworkClient
import NetworkLab
import PathProbing
import ReachabilityCore
import Testing
import ValidationCore

@testable import Validation

/// Single probes, without the decisions of a validator.
@Suite(.timeLimit(.minutes(5))) struct ProberTests {
    private static let loopback = ValidationPath(interface: 1, name: "lo")

    // MARK: The portal's API

    /// An nginx whose `/captive` has a content type and a body.
    private static func api(_ type: String, _ text: String, _ authority: CertificateAuthority) throws -> Nginx {
        let location = "location = /captive { default_type \(type); return 200 '\(text)'; }"
        return try Nginx(certifiedBy: authority, directives: [location])
    }

    private static func reply(of nginx: Nginx, trusting authority: CertificateAuthority) async throws -> PortalReply? {
        let configuration = ValidationConfiguration(endpoints: [], timeout: .seconds(600))
        let tls = TLSOptions(roots: try .only(authority.root.der))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let prober = try EndpointProber(configuration, tls, .direct, loop)
        return await prober.askPortal("https://127.0.0.1:\(nginx.securePort)/captive", through: loopback)
    }

    @Test func `the API of a portal says whether it holds the machine back, and where to log in`() async throws {
        let authority = try CertificateAuthority()
        let text = #"{"captive": true, "user-portal-url": "https://hotel.example/login"}"#
        let nginx = try Self.api("application/captive+json", text, authority)
        let expected = PortalReply(isCaptive: true, loginURL: "https://hotel.example/login")
        #expect(try await Self.reply(of: nginx, trusting: authority) == expected)
    }

    @Test(arguments: [("text/html", #"{"captive": true}"#), ("application/captive+json", "<html>")])
    func `a reply of another type, or that can't be decoded, is none`(type: String, text: String) async throws {
        let authority = try CertificateAuthority()
        let nginx = try Self.api(type, text, authority)
        #expect(try await Self.reply(of: nginx, trusting: authority) == nil)
    }

    @Test func `an API without a trusted certificate is not believed`() async throws {
        let hotel = try CertificateAuthority("Hotel")
        let nginx = try Self.api("application/captive+json", #"{"captive": true}"#, hotel)
        #expect(try await Self.reply(of: nginx, trusting: CertificateAuthority("Own")) == nil)
        #expect(try await Self.reply(of: nginx, trusting: hotel) == PortalReply(isCaptive: true, loginURL: nil))
    }

    // MARK: IPv4 addresses on a path without IPv4

    @Test func `an IPv4 address can't be reached on a path that has neither IPv4 nor a translator`() async throws {
        let server = try AnsweringServer { _ in [.response(status: "204 No Content")] }
        let endpoint = try #require(ValidationEndpoint.http(server.url))
        let configuration = ValidationConfiguration(endpoints: [endpoint], timeout: .seconds(600))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let prober = try EndpointProber(configuration, .init(), .direct, loop)
        var path = Self.loopback
        path.networks = [.init(.init(family: .ipv6, bits: 0x2001_0DB8 << 96), length: 64)]
        #expect(await prober.probe(endpoint, through: path) == .failed(.unreachable))
        #expect(server.requests.value.isEmpty)
    }

    // MARK: Names

    private static let address = IPAddress(ipv4: 0xC000_0207)

    /// Asks a name server on the loopback interface.
    private static func ask(
        _ server: LoopbackNameServer,
        within timeout: Duration = .seconds(600)
    ) async -> ProbeOutcome {
        await NameProber().ask(
            for: "own.example",
            server: .init(ipv4: 0x7F00_0001),
            through: 1,
            within: timeout,
            port: server.port
        )
    }

    @Test func `a name server is asked for the addresses of a name`() async throws {
        let server = try LoopbackNameServer { _, query in [LoopbackNameServer.reply(to: query, [192, 0, 2, 7])] }
        let start = ContinuousClock.now
        #expect(await Self.ask(server) == .nameAnswer(code: 0, addresses: [Self.address]))
        // One each second until the reply.
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect((1...1 + seconds).contains(server.queries.value))
    }

    @Test func `datagrams that don't reply to the query are dropped`() async throws {
        let server = try LoopbackNameServer { _, query in
            var forged = LoopbackNameServer.reply(to: query, [198, 51, 100, 1])
            forged[0] ^= 1
            return [forged, [1], LoopbackNameServer.reply(to: query, [192, 0, 2, 7])]
        }
        #expect(await Self.ask(server) == .nameAnswer(code: 0, addresses: [Self.address]))
    }

    @Test func `a query that is lost is repeated`() async throws {
        let server = try LoopbackNameServer { number, query in
            number < 3 ? [] : [LoopbackNameServer.reply(to: query, [192, 0, 2, 7])]
        }
        let start = ContinuousClock.now
        #expect(await Self.ask(server) == .nameAnswer(code: 0, addresses: [Self.address]))
        let seconds = Int((ContinuousClock.now - start).components.seconds)
        #expect((3...max(3, 1 + seconds)).contains(server.queries.value))
    }

    @Test func `a name server that stays silent is given up at the time limit`() async throws {
        let server = try LoopbackNameServer { _, _ in [] }
        #expect(await Self.ask(server, within: .milliseconds(20)) == .failed(.timedOut))
    }

    @Test func `a reply that arrived while the thread did not run is read after the time limit`() throws {
        let message = try #require(NameMessage("own.example", id: 7))
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        var ends: [Int32] = [-1, -1]
        try systemCall("socketpair") { socketpair(AF_UNIX, type, 0, &ends) }
        let sockets = ends.map { OwnedDescriptor($0) }
        let reply = LoopbackNameServer.reply(to: message.query, [192, 0, 2, 7])
        try systemCall("send") { send(sockets[1].number, reply, reply.count, 0) }
        let outcome = try NameProber.receive(message, sockets[0].number, until: .init(nanoseconds: 0))
        #expect(outcome == .nameAnswer(code: 0, addresses: [Self.address]))
        // Nothing has arrived at the other end.
        #expect(try NameProber.receive(message, sockets[1].number, until: .init(nanoseconds: 0)) == nil)
        withExtendedLifetime(sockets) {}
    }

    @Test func `a link-local name server of the system is asked on its own link only`() throws {
        let text = """
            # nameserver 192.0.2.1
            search example
            nameserver fe80::1%lo
            nameserver\tfe80::2%1
            nameserver fe80::3%no-such
            nameserver 192.0.2.53
            """
        let expected = try ["fe80::1", "fe80::2", "192.0.2.53"].map { try #require(IPAddress($0)) }
        #expect(NameProber.servers(in: text, through: 1) == expected)
    }

    @Test func `a name that can't be asked for is no query`() async {
        let outcome = await NameProber().ask(for: "a..b", server: nil, through: 1, within: .seconds(600))
        #expect(outcome == .unusable("'a..b' is no name"))
    }
}
