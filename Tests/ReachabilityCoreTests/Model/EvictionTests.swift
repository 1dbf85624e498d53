import Testing

@testable import ReachabilityCore

@Suite("Silent removals by the kernel")
struct EvictionTests {
    private typealias Place = ModelStory.Place

    private static let mainIPv4 = RouteTableKey(.ipv4, .main)

    @Test("A link that is set down loses its IPv4 routes (libnl#340, basebox#469, #475)")
    func linkDown() {
        var story = ModelStory()
        story.link(3)
        story.link(4)
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.apply(.route(ModelStory.route(via: 2, on: 4, metric: 9)), Place.alone)
        let effect = story.link(3, up: false)
        #expect(effect.reasons == [.linkDown, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.nextHopNumbers() == [[2]])
    }

    @Test("A default route that is added again is in the model again (probert#72)")
    func comesBack() {
        var story = ModelStory()
        story.link(3)
        for _ in 1...3 {
            #expect(story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone).reasons == [.routeAdded])
            #expect(story.nextHopNumbers() == [[1]])
            story.link(3, up: false)
            #expect(story.nextHopNumbers() == [])
            story.link(3)
        }
    }

    @Test("An IPv4 route without carrier stays, and its next hop is marked, although no message says so")
    func noCarrier() {
        var story = ModelStory()
        story.link(3)
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        #expect(story.link(3, carrier: false).reasons == [.carrierLost])
        #expect(nextHopFlags(story) == [[.linkDown]])
        var settings = NetconfMessage(family: .ipv4, index: NetconfMessage.allInterfaces)
        settings.ignoresRoutesWithLinkDown = true
        #expect(story.apply(.netconf(settings)).reasons == [.settingChanged])
        #expect(nextHopFlags(story) == [[[.linkDown, .dead]]])
        story.link(3)
        #expect(nextHopFlags(story) == [[[]]])
    }

    @Test("A next hop that is dead without carrier is usable when that is back; one without address is read again")
    func ambiguous() {
        for hasAddress in [true, false] {
            var story = ModelStory()
            story.link(3, carrier: false)
            story.link(4)
            var settings = NetconfMessage(family: .ipv4, index: 3)
            settings.ignoresRoutesWithLinkDown = true
            story.apply(.netconf(settings))
            if hasAddress { story.apply(.address(ModelStory.address(9, on: 3))) }
            var route = ModelStory.route(via: 1, on: 3)
            route.nextHops[0].flags = [.dead, .linkDown]
            route.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2)))
            story.apply(.route(route), Place.listed)
            #expect(story.link(3).staleSubjects == (hasAddress ? [] : [.routes(.ipv4, table: .main)]))
            #expect(nextHopFlags(story) == [[hasAddress ? [] : [.dead, .linkDown], []]])
        }
    }

    @Test("A route of several next hops is removed with the last one")
    func multipath() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        let both = ModelStory.route(via: 1, on: 3) {
            $0.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2)))
        }
        story.apply(.route(both), Place.alone)
        story.link(3, up: false)
        #expect(nextHopFlags(story) == [[[.dead, .linkDown], []]])
        story.link(3)
        #expect(nextHopFlags(story) == [[[], []]])
        story.link(3, up: false)
        #expect(story.link(4, up: false).reasons == [.linkDown, .routeFlushed])
        #expect(story.nextHopNumbers() == [])
    }

    @Test(
        "A route of several next hops goes whole with the first device that is removed, but in IPv6 only the next hop"
    )
    func unregistered() {
        for (family, rest) in [(AddressFamily.ipv4, []), (.ipv6, [[2]])] {
            var story = ModelStory()
            for index in [3, 4] as [InterfaceIndex] { story.link(index) }
            let both = ModelStory.route(via: 1, on: 3, family) {
                $0.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2, family)))
            }
            story.apply(.route(both), Place.alone)
            story.apply(.linkRemoved(ModelStory.link(3)))
            #expect(story.nextHopNumbers(family) == rest)
        }
    }

    @Test("A device's routes in all tables are removed with its last IPv4 address, and none with one of two")
    func lastAddress() {
        var story = ModelStory()
        story.link(3)
        story.apply(.address(ModelStory.address(2, on: 3)))
        story.apply(.address(ModelStory.address(3, on: 3, .ipv4, .secondary)))
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.apply(.route(ModelStory.route(via: 1, on: 3, table: .init(rawValue: 300))), Place.alone)
        #expect(story.apply(.addressRemoved(ModelStory.address(3, on: 3))).reasons == [.addressRemoved])
        let effect = story.apply(.addressRemoved(ModelStory.address(2, on: 3)))
        #expect(effect.reasons == [.addressRemoved, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4, .init(.ipv4, .init(rawValue: 300))])
        #expect(story.snapshot.routes.keys.isEmpty)
    }

    @Test("Table main's routes that prefer an address are removed with it, unless another interface has it too")
    func preferredSource() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        for index in [3, 4] as [InterfaceIndex] { story.apply(.address(ModelStory.address(2, on: index))) }
        let other = RouteTableID(rawValue: 300)
        for table in [RouteTableID.main, other] {
            let route = ModelStory.route(via: 1, on: 4, table: table) { $0.preferredSource = ModelStory.host(2) }
            story.apply(.route(route), Place.alone)
        }
        story.apply(.address(ModelStory.address(9, on: 4)))
        story.apply(.addressRemoved(ModelStory.address(2, on: 3)))
        #expect(story.nextHopNumbers() == [[1]])
        let effect = story.apply(.addressRemoved(ModelStory.address(2, on: 4)))
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.nextHopNumbers() == [])
        #expect(story.nextHopNumbers(.ipv4, other) == [[1]])
    }

    @Test("IPv6 routes lose a preferred source that is gone, and their table becomes stale")
    func forgottenSource() {
        var story = ModelStory()
        story.link(3)
        story.apply(.address(ModelStory.address(2, on: 3, .ipv6)))
        let route = ModelStory.route(via: 1, on: 3, .ipv6) { $0.preferredSource = ModelStory.host(2, .ipv6) }
        story.apply(.route(route), Place.alone)
        let effect = story.apply(.addressRemoved(ModelStory.address(2, on: 3, .ipv6)))
        #expect(effect.reasons == [.addressRemoved, .routeReplaced])
        #expect(effect.staleSubjects == [.routes(.ipv6, table: .main)])
        #expect(story.snapshot.routes(.ipv6, .main).first?.message.preferredSource == nil)
    }

    @Test("IPv6 routes are removed with their link even if the kernel does not announce it (skip_notify_on_dev_down)")
    func silentIPv6() {
        var story = ModelStory()
        story.link(3)
        let route = ModelStory.route(via: 1, on: 3, .ipv6)
        story.apply(.route(route), Place.alone)
        #expect(story.link(3, up: false).reasons == [.linkDown, .routeRemoved])
        #expect(!story.apply(.routeRemoved(route)).changed)
    }

    @Test("IPv4 routes are removed with their nexthop object (libnl#418)")
    func nexthopDeleted() {
        var story = ModelStory()
        story.link(3)
        story.apply(.nexthop(nexthop(7, on: 3)))
        story.apply(.route(ModelStory.route(via: 1, on: 3) { $0.nexthopID = 7 }), Place.alone)
        let effect = story.apply(.nexthopRemoved(.init(id: 7)))
        #expect(effect.reasons == [.nexthopChanged, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.nextHopNumbers() == [])
    }

    @Test("A nexthop object is silently removed with its device's carrier, and from its groups")
    func nexthopCarrier() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        story.apply(.nexthop(nexthop(7, on: 3)))
        story.apply(.nexthop(nexthop(8, on: 4)))
        var group = NexthopMessage(id: 9)
        group.group = [.init(id: 7), .init(id: 8, weight: 2)]
        story.apply(.nexthop(group))
        story.apply(.route(ModelStory.route(via: nil, on: 3) { $0.nexthopID = 9 }), Place.alone)
        story.apply(.route(ModelStory.route(via: 1, on: 3, metric: 5) { $0.nexthopID = 7 }), Place.alone)
        #expect(story.nextHopNumbers() == [[7, 8], [7]])
        #expect(story.link(3, carrier: false).reasons == [.carrierLost, .nexthopChanged, .routeFlushed])
        #expect(story.nextHopNumbers() == [[8]])
        story.link(4, carrier: false)
        #expect(story.snapshot.nexthops.keys.isEmpty)
        #expect(story.nextHopNumbers() == [])
    }

    @Test("A new route without flags shows that the route the model still had was gone")
    func shownGone() {
        var story = ModelStory()
        story.link(3)
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        let effect = story.apply(.route(ModelStory.route(via: 2, on: 3)), Place.alone)
        #expect(effect.reasons == [.routeFlushed, .routeAdded])
        #expect(story.nextHopNumbers() == [[2]])
    }

    private func nexthop(_ id: UInt32, on index: InterfaceIndex) -> NexthopMessage {
        var message = NexthopMessage(id: id)
        message.family = .ipv4
        message.nextHop = .init(interface: index, gateway: ModelStory.host(UInt8(id)))
        return message
    }

    private func nextHopFlags(_ story: ModelStory) -> [[NextHopFlags]] {
        story.snapshot.routes(.ipv4, .main).map { story.snapshot.nextHops(of: $0).map(\.flags) }
    }
}
