import ReachabilityCore
import Testing
import ValidationCore

struct ValidationEndpointTests {
    @Test(arguments: [
        "http://own.example", "https://own.example/generate_204?x=1", "HTTP://[2001:db8::1]:8080/",
        "http://192.0.2.1:80/x",
    ])
    func `absolute http and https URLs are taken`(url: String) {
        #expect(ValidationEndpoint.http(url) != nil)
    }

    @Test(arguments: [
        "", "own.example", "/generate_204", "ftp://own.example/", "http://", "http:///x", "http://:80/",
        "http://u@own.example/",
        "http://own.example:0/", "http://own.example:65536/", "http://own.example:x/", "http://own example/",
        "http://[]/",
        "http://own.example/\n", "http://[2001:db8::1", "http://[2001:db8::1]x/",
    ])
    func `other URLs are refused`(url: String) {
        #expect(ValidationEndpoint.http(url) == nil)
    }

    @Test func `endpoints are described as a user would write them`() throws {
        let url = try #require(ValidationEndpoint.http("HTTPS://Own.Example:443/a?b#c"))
        #expect("\(url)" == "https://own.example/a?b")
        #expect("\(ValidationEndpoint.tls("2001:db8::1", port: 8443))" == "tls://[2001:db8::1]:8443")
        #expect("\(ValidationEndpoint.tcp("own.example", port: 22))" == "tcp://own.example:22")
        #expect("\(ValidationEndpoint.dns("own.example"))" == "dns:own.example")
        let server = IPAddress("2001:db8::53")
        #expect("\(ValidationEndpoint.dns("own.example", server: server))" == "dns://[2001:db8::53]/own.example")
    }

    @Test func `values below the possible minimum are raised to it`() {
        let configuration = ValidationConfiguration(
            endpoints: [],
            timeout: .zero,
            secondOpinionDelay: .seconds(-1),
            minimumInterval: .zero,
            maximumInterval: .seconds(-1),
            probesPerDay: -1,
            failuresBeforeLoss: 0
        )
        #expect(configuration.timeout == .milliseconds(1))
        #expect(configuration.secondOpinionDelay == .zero)
        #expect(configuration.minimumInterval == .milliseconds(1))
        #expect(configuration.maximumInterval == .milliseconds(1))
        #expect(configuration.probesPerDay == 0)
        #expect(configuration.failuresBeforeLoss == 1)
    }
}

struct ValidationPathTests {
    private static func path(source: String, expensive: Bool = false, constrained: Bool = false) throws -> NetworkPath {
        let interface = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .nl80211)
        let family = FamilyPath(
            status: .wifi,
            interface: interface,
            carriers: [interface],
            gateway: IPAddress("fe80::1"),
            source: try #require(IPAddress(source)),
            metric: 600,
            table: .init(rawValue: 254)
        )
        return .init(
            status: .wifi,
            interface: interface,
            ipv6: family,
            isExpensive: expensive,
            isConstrained: constrained
        )
    }

    @Test func `a new privacy address in the same network is the same path`() throws {
        let one = try #require(try ValidationPath(Self.path(source: "2001:db8:1:2:aaaa::1")))
        #expect(try one == ValidationPath(Self.path(source: "2001:db8:1:2:bbbb::7")))
        #expect(try one != ValidationPath(Self.path(source: "2001:db8:1:3:aaaa::1")))
        #expect(one.interface == 3 && one.name == "wlan0")
        #expect(one.gateways == [IPAddress("fe80::1")])
        #expect(!one.isMetered)
    }

    @Test func `expensive and constrained paths are metered`() throws {
        #expect(try ValidationPath(Self.path(source: "2001:db8::1", expensive: true))?.isMetered == true)
        #expect(try ValidationPath(Self.path(source: "2001:db8::1", constrained: true))?.isMetered == true)
    }

    @Test func `a path that is not reachable is none`() {
        #expect(ValidationPath(NetworkPath(status: .notReachable)) == nil)
        #expect(ValidationPath(NetworkPath(status: .unknown)) == nil)
    }
}

struct ValidationInstantTests {
    @Test func `durations are added and clamped`() {
        let start = ValidationInstant(nanoseconds: 1_000_000_000)
        #expect(start.advanced(by: .milliseconds(1_500)) == .init(nanoseconds: 2_500_000_000))
        #expect(start.advanced(by: .seconds(Int64.max)) == .init(nanoseconds: .max))
        #expect(start.advanced(by: .seconds(Int64.min)) == .init(nanoseconds: .min))
        #expect(start.duration(to: .init(nanoseconds: 3_000_000_000)) == .seconds(2))
        #expect(ValidationInstant(nanoseconds: .min).duration(to: .init(nanoseconds: .max)) == .nanoseconds(Int64.max))
    }
}
