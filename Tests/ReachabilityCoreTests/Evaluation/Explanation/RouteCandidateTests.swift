import Testing

@testable import ReachabilityCore

@Suite struct RouteCandidateTests {
    typealias Scene = ExplainedScene

    @Test(arguments: [AddressFamily.ipv4, .ipv6])
    func `a better metric and a longer prefix win`(family: AddressFamily) {
        var scene = Scene()
        scene.setRoutes(Scene.route(family, on: 2, metric: 1), Scene.route(family, on: 3, metric: 2))
        #expect(scene.verdicts(family) == [.chosen, .beaten(by: .metric)])
        // It covers the first probe address and not the second.
        let bits: UInt128 = family == .ipv4 ? 0 : 0x2 << 124
        var half = Scene.route(family, on: 3, metric: 9)
        half.destination = .init(.init(family: family, bits: bits), length: family == .ipv4 ? 1 : 4)
        scene.setRoutes(half, Scene.route(family, on: 2, metric: 1))
        #expect(scene.verdicts(family) == [.chosen, .beaten(by: .longerPrefix)])
        let second = scene.family(family).probes[1].lookups[0].steps.flatMap(\.candidates).map(\.verdict)
        #expect(second == [.otherDestination, .chosen])
    }

    @Test(arguments: [RouteType.unreachable, .prohibit, .blackhole])
    func `a route of a type that refuses is chosen`(type: RouteType) {
        var scene = Scene()
        var refusing = Scene.route(on: 2)
        refusing.type = type
        refusing.nextHops = []
        scene.setRoutes(refusing, Scene.route(on: 3, metric: 2))
        #expect(scene.verdicts() == [.chosen, .beaten(by: .metric)])
        #expect(scene.family().probes[0].lookups[0].steps[1].candidates.map(\.isUsable) == [false, true])
    }

    @Test func `a throw route hides the routes after it`() {
        var scene = Scene()
        var throwing = Scene.route(on: 2)
        throwing.type = .throw
        throwing.nextHops = []
        scene.setRoutes(throwing, Scene.route(on: 3, metric: 2))
        #expect(scene.verdicts() == [.throwing, .behindThrow])
        #expect(scene.results() == [.noResult, .noResult])
    }

    @Test func `next hops over interfaces that are down, missing or ignored are unusable`() {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2), Scene.route(on: 9, metric: 1), Scene.route(on: 3, metric: 2))
        scene.snapshot.links[1].flags = []
        #expect(scene.verdicts() == [.nextHopsUnusable, .nextHopsUnusable, .chosen])
        let fates = scene.family().probes[0].lookups[0].steps[1].candidates.map { $0.nextHops.map(\.fate) }
        #expect(fates == [[.interfaceDown], [.noInterface], [.usable]])
    }

    @Test(arguments: [AddressFamily.ipv4, .ipv6])
    func `a route without carrier is preferred unless ignore_routes_with_linkdown is set`(family: AddressFamily) throws
    {
        var scene = Scene()
        scene.setRoutes(Scene.route(family, on: 2), Scene.route(family, on: 3, metric: 2))
        scene.loseCarrier(of: 2)
        #expect(scene.verdicts(family) == [.chosen, .beaten(by: .metric)])
        let steps = scene.family(family).probes[0].lookups[0].steps
        #expect(steps[1].candidates.map { $0.nextHops.map(\.fate) } == [[.useless(.noCarrier)], [.usable]])
        let detour = try #require(scene.family(family).detour)
        #expect(detour.interfaces == [2] && detour.path.interface.name == "wwan0")
        var settings = InterfaceSettings()
        settings.ignoresRoutesWithLinkDown = true
        scene.snapshot.settings[.init(family, 2)] = settings
        #expect(scene.verdicts(family) == [.nextHopsUnusable, .chosen])
        #expect(scene.family(family).detour == nil)
    }

    @Test func `no fix is suggested if no other route would be usable`() {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2), Scene.route(on: 3, metric: 2))
        scene.loseCarrier(of: 2)
        scene.loseCarrier(of: 3)
        #expect(scene.family().detour == nil)
    }

    @Test func `IPv6 routes lose by preference, source, expiry and failed gateway`() {
        var scene = Scene()
        var foreign = Scene.route(.ipv6, on: 2)
        foreign.source = .init(.init(family: .ipv6, bits: 0x2001_0DB8_0005 << 80), length: 48)
        var expired = Scene.route(.ipv6, on: 2, metric: 1)
        expired.lifetime = .zero
        var failed = Scene.route(.ipv6, on: 2, metric: 3)
        let gateway = IPAddress(family: .ipv6, bits: 0xFE80 << 112 | 1)
        failed.nextHops = [.init(interface: 2, gateway: gateway)]
        var preferred = Scene.route(.ipv6, on: 3, metric: 3)
        preferred.preference = .high
        scene.setRoutes(foreign, expired, failed, preferred, Scene.route(.ipv6, on: 2, metric: 3))
        #expect(
            scene.verdicts(.ipv6) == [
                .otherSource, .expired, .beaten(by: .preference), .chosen, .beaten(by: .preference),
            ]
        )
        scene.snapshot.neighbours[.init(index: 2, address: gateway)] = .failed
        #expect(scene.verdicts(.ipv6)[2] == .gatewayFailed)
    }

    @Test func `a multipath route is usable with one dead next hop`() {
        var scene = Scene()
        var route = Scene.route(on: 2)
        route.nextHops.append(.init(interface: 3))
        scene.setRoutes(route)
        scene.snapshot.links[1].flags = []
        let candidates = scene.family().probes[0].lookups[0].steps[1].candidates
        #expect(candidates.map(\.verdict) == [.chosen] && candidates[0].isUsable)
        #expect(candidates[0].nextHops.map(\.fate) == [.interfaceDown, .usable])
    }

    @Test func `equal default routes, among which the kernel alternates, are all chosen`() {
        var scene = Scene()
        var routes: [RouteMessage] = []
        for index in [2, 3] as [InterfaceIndex] {
            var route = Scene.route(on: index)
            let gateway = IPAddress(ipv4: index == 2 ? 0xC000_0201 : 0xC633_6401)
            route.nextHops = [.init(interface: index, gateway: gateway)]
            scene.snapshot.neighbours[.init(index: index, address: gateway)] = .stale
            routes.append(route)
        }
        scene.setRoutes(routes[0], routes[1])
        #expect(scene.verdicts() == [.chosen, .chosen])
    }
}
