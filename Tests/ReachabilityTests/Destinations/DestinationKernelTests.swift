import NetworkLab
import Testing

@testable import Reachability

@Suite("Destinations on the real kernel", .timeLimit(.minutes(10)))
struct DestinationKernelTests {
    /// Starts a monitor, and waits until it has read everything: a lookup waits five seconds at most for that.
    private func settledMonitor(on uplink: TestUplink) async throws -> ReachabilityMonitor {
        let monitor = try uplink.startMonitor()
        _ = try await monitor.view(within: .seconds(120))
        return monitor
    }

    @Test("A path to an address has the kernel's interface, gateway and source")
    func path() async throws {
        let uplink = try TestUplink()
        let monitor = try await settledMonitor(on: uplink)
        let far = try #require(try await monitor.path(to: "203.0.113.7").best)
        #expect(far.isReachable)
        #expect(far.status == .wifi)
        #expect(far.interface?.name == "wan0")
        #expect(far.gateway == IPAddress("192.0.2.1"))
        #expect(far.source == IPAddress("192.0.2.2"))

        let near = try #require(try await monitor.path(to: "192.0.2.7").best)
        #expect(near.isReachable)
        #expect(near.gateway == nil)
    }

    @Test("Hundreds of addresses are watched at once")
    func many() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let heard = Collector<DestinationPath>()
        let addresses = (0..<400).map { IPAddress(ipv4: 0xCB00_7100 + $0) }
        let subscriptions = addresses.map { monitor.subscribe(to: $0) { heard.append($0) } }
        try await heard.wait { Set($0.map(\.destination)) == Set(addresses) }
        #expect(heard.elements.allSatisfy { $0.gateway == IPAddress("192.0.2.1") })
        #expect(monitor.counters.reopened == 0)
        withExtendedLifetime(subscriptions) {}
    }

    @Test("The machine's own addresses and the loopback address are reachable without any link")
    func local() async throws {
        let uplink = try TestUplink()
        let monitor = try await settledMonitor(on: uplink)
        for host in ["192.0.2.2", "127.0.0.1", "::1", "localhost"] {
            let path = try #require(try await monitor.path(to: host, timeout: .seconds(60)).best)
            #expect(path.isReachable, "\(host)")
            #expect(path.interface?.kind == .loopback, "\(host)")
        }
    }

    @Test("A refused path has the kernel's errno and the reason")
    func refusals() async throws {
        let uplink = try TestUplink()
        for (prefix, type) in [("198.51.100.0", RouteType.unreachable), ("198.51.100.64", .prohibit)] {
            var route = RouteMessage(destination: .init(try #require(IPAddress(prefix)), length: 26))
            route.type = type
            try uplink.lab.rtnl.route(.add, route)
        }
        let monitor = try await settledMonitor(on: uplink)
        let unreachable = try #require(try await monitor.path(to: "198.51.100.1").best)
        #expect(unreachable.status == .notReachable)
        #expect(unreachable.errno == LookupErrno.hostUnreachable)
        #expect(unreachable.reasons == [.unreachable])
        let prohibited = try #require(try await monitor.path(to: "198.51.100.65").best)
        #expect(prohibited.errno == LookupErrno.accessDenied)
        #expect(prohibited.reasons == [.prohibited])
        let noRoute = try #require(try await monitor.path(to: "2001:db8::1").best)
        #expect(noRoute.errno == LookupErrno.networkUnreachable)
        #expect(noRoute.reasons == [.noRoute])
    }

    @Test("A link-local destination is reachable from a link-local address")
    func linkLocal() async throws {
        let uplink = try TestUplink()
        try uplink.lab.rtnl.addAddress("169.254.7.1/16", on: "wan0")
        let monitor = try await settledMonitor(on: uplink)
        let path = try #require(try await monitor.path(to: "169.254.9.9").best)
        #expect(path.source == IPAddress("169.254.7.1"))
        #expect(path.isReachable, "\(path.reasons)")
    }

    @Test(
        "A link's broadcast address and a multicast group are reached",
        arguments: ["192.0.2.255", "224.0.0.251", "ff02::1"]
    )
    func severalHosts(_ host: String) async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        // The link-local address that ff02::1 needs is being checked for duplicates for a second.
        let destination = try #require(IPAddress(host))
        let path = await monitor.paths(to: destination).first(where: \.isReachable)
        // Both ends of the veth are links of this namespace; the kernel takes the one whose address was checked first.
        #expect(["wan0", "far0"].contains(path?.interface?.name))
    }

    @Test("A path over a link without carrier is unusable even if the kernel has a route")
    func noCarrier() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        try uplink.lab.rtnl.setDown("far0")
        try await monitor.wait(for: .notReachable, timeout: .seconds(120))
        let path = try #require(try await monitor.path(to: "203.0.113.7").best)
        #expect(path.status == .notReachable)
        #expect(path.errno == nil)
        #expect(path.reasons == [.noCarrier])
    }

    @Test("A subscription to a destination follows specific routes, the default route and the link")
    func live() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let heard = Collector<DestinationPath>()
        let destination = try #require(IPAddress("203.0.113.7"))
        let subscription = monitor.subscribe(to: destination, on: .immediate) { heard.append($0) }
        try await heard.wait(count: 1)
        #expect(heard.elements.last?.gateway == IPAddress("192.0.2.1"))

        try uplink.lab.rtnl.addRoute("203.0.113.0/24", via: "192.0.2.9", on: "wan0")
        try await heard.wait { $0.last?.gateway == IPAddress("192.0.2.9") }
        // A route to other destinations is irrelevant.
        try uplink.lab.rtnl.addRoute("198.51.100.0/24", via: "192.0.2.9", on: "wan0")
        try uplink.lab.rtnl.deleteRoute("203.0.113.0/24", on: "wan0")
        try await heard.wait { $0.last?.gateway == IPAddress("192.0.2.1") }
        try uplink.goDown()
        try await heard.wait { $0.last?.status == .notReachable }
        try uplink.comeBack()
        try await heard.wait { $0.last?.status == .wifi }

        // The interface goes down before its route is removed, and the route may return before the carrier does: meanwhile
        // the path is the same, but unusable.
        let unusable = heard.elements.filter { !$0.isReachable && $0.gateway != nil }
        #expect(unusable.allSatisfy { [[.interfaceDown], [.noCarrier]].contains($0.reasons) })
        var gateways: [String] = []
        for path in heard.elements where path.isReachable || path.gateway == nil {
            let gateway = path.gateway?.description ?? "none"
            if gateways.last != gateway { gateways.append(gateway) }
        }
        #expect(gateways == ["192.0.2.1", "192.0.2.9", "192.0.2.1", "none", "192.0.2.1"])
        withExtendedLifetime(subscription) {}
    }

    @Test("A subscription to an IPv6 destination follows a host route", arguments: Place.allCases)
    func liveIPv6(_ place: Place) async throws {
        let uplink = try TestUplink()
        try uplink.lab.rtnl.addAddress("2001:db8::2/64", on: "wan0")
        let monitor = try uplink.startMonitor()
        let heard = Collector<DestinationPath>()
        let destination = try #require(IPAddress("2001:db8:7::7"))
        let subscription = monitor.subscribe(to: destination, on: place.makeDelivery().delivery) {
            heard.append($0)
        }
        try await heard.wait { $0.last?.reasons == [.noRoute] }
        try uplink.lab.rtnl.addRoute("2001:db8:7::7/128", via: "2001:db8::1", on: "wan0", family: .ipv6)
        try await heard.wait { $0.last?.status == .wifi }
        withExtendedLifetime(subscription) {}
    }

    @Test("A sequence of paths can begin before the monitor has a state")
    func liveSequence() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        let destination = try #require(IPAddress("203.0.113.7"))
        var iterator = monitor.paths(to: destination).makeAsyncIterator()
        #expect(await iterator.next()?.status == .wifi)
        try uplink.goDown()
        #expect(await iterator.next()?.status == .notReachable)
    }
}
