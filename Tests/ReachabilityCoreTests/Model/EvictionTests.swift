import Testing

@testable import ReachabilityCore

@Suite("What the kernel removes without a message")
struct EvictionTests {
    private typealias Place = ModelStory.Place

    private static let mainIPv4 = RouteTableKey(.ipv4, .main)

    @Test("A link that is set down takes its IPv4 routes with it (libnl#340, basebox#469, #475)")
    func linkDown() {
        var story = ModelStory()
        story.link(3)
        story.link(4)
        story.tell(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.tell(.route(ModelStory.route(via: 2, on: 4, metric: 9)), Place.alone)
        let effect = story.link(3, up: false)
        #expect(effect.reasons == [.linkDown, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.ways() == [[2]])
    }

    @Test("When the default route comes back, it is there again (probert#72)")
    func comesBack() {
        var story = ModelStory()
        story.link(3)
        for _ in 1...3 {
            #expect(story.tell(.route(ModelStory.route(via: 1, on: 3)), Place.alone).reasons == [.routeAdded])
            #expect(story.ways() == [[1]])
            story.link(3, up: false)
            #expect(story.ways() == [])
            story.link(3)
        }
    }

    @Test("Without carrier an IPv4 route stays; its next hop is marked, though no message tells")
    func noCarrier() {
        var story = ModelStory()
        story.link(3)
        story.tell(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        #expect(story.link(3, carrier: false).reasons == [.carrierLost])
        #expect(nextHopFlags(story) == [[.linkDown]])
        var settings = NetconfMessage(family: .ipv4, index: NetconfMessage.allInterfaces)
        settings.ignoresRoutesWithLinkDown = true
        #expect(story.tell(.netconf(settings)).reasons == [.settingChanged])
        #expect(nextHopFlags(story) == [[[.linkDown, .dead]]])
        story.link(3)
        #expect(nextHopFlags(story) == [[[]]])
    }

    @Test("A next hop that is dead for want of a carrier lives when that is back; one without address is asked about")
    func ambiguous() {
        for hasAddress in [true, false] {
            var story = ModelStory()
            story.link(3, carrier: false)
            story.link(4)
            var settings = NetconfMessage(family: .ipv4, index: 3)
            settings.ignoresRoutesWithLinkDown = true
            story.tell(.netconf(settings))
            if hasAddress { story.tell(.address(ModelStory.address(9, on: 3))) }
            var route = ModelStory.route(via: 1, on: 3)
            route.nextHops[0].flags = [.dead, .linkDown]
            route.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2)))
            story.tell(.route(route), Place.listed)
            #expect(story.link(3).staleSubjects == (hasAddress ? [] : [.routes(.ipv4, table: .main)]))
            #expect(nextHopFlags(story) == [[hasAddress ? [] : [.dead, .linkDown], []]])
        }
    }

    @Test("A route of several next hops goes with the last, and lives while one does")
    func multipath() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        let both = ModelStory.route(via: 1, on: 3) {
            $0.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2)))
        }
        story.tell(.route(both), Place.alone)
        story.link(3, up: false)
        #expect(nextHopFlags(story) == [[[.dead, .linkDown], []]])
        story.link(3)
        #expect(nextHopFlags(story) == [[[], []]])
        story.link(3, up: false)
        #expect(story.link(4, up: false).reasons == [.linkDown, .routeFlushed])
        #expect(story.ways() == [])
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
            story.tell(.route(both), Place.alone)
            story.tell(.linkRemoved(ModelStory.link(3)))
            #expect(story.ways(family) == rest)
        }
    }

    @Test("The last IPv4 address takes the device's routes in all tables with it; one of two takes none")
    func lastAddress() {
        var story = ModelStory()
        story.link(3)
        story.tell(.address(ModelStory.address(2, on: 3)))
        story.tell(.address(ModelStory.address(3, on: 3, .ipv4, .secondary)))
        story.tell(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.tell(.route(ModelStory.route(via: 1, on: 3, table: .init(rawValue: 300))), Place.alone)
        #expect(story.tell(.addressRemoved(ModelStory.address(3, on: 3))).reasons == [.addressRemoved])
        let effect = story.tell(.addressRemoved(ModelStory.address(2, on: 3)))
        #expect(effect.reasons == [.addressRemoved, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4, .init(.ipv4, .init(rawValue: 300))])
        #expect(story.snapshot.routes.isEmpty)
    }

    @Test("An address takes the main table's routes that prefer it, unless another interface has it too")
    func preferredSource() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        for index in [3, 4] as [InterfaceIndex] { story.tell(.address(ModelStory.address(2, on: index))) }
        let other = RouteTableID(rawValue: 300)
        for table in [RouteTableID.main, other] {
            let route = ModelStory.route(via: 1, on: 4, table: table) { $0.preferredSource = ModelStory.host(2) }
            story.tell(.route(route), Place.alone)
        }
        story.tell(.address(ModelStory.address(9, on: 4)))
        story.tell(.addressRemoved(ModelStory.address(2, on: 3)))
        #expect(story.ways() == [[1]])
        let effect = story.tell(.addressRemoved(ModelStory.address(2, on: 4)))
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.ways() == [])
        #expect(story.ways(.ipv4, other) == [[1]])
    }

    @Test("IPv6 routes forget a preferred source that is gone, and the messages leave a doubt")
    func forgottenSource() {
        var story = ModelStory()
        story.link(3)
        story.tell(.address(ModelStory.address(2, on: 3, .ipv6)))
        let route = ModelStory.route(via: 1, on: 3, .ipv6) { $0.preferredSource = ModelStory.host(2, .ipv6) }
        story.tell(.route(route), Place.alone)
        let effect = story.tell(.addressRemoved(ModelStory.address(2, on: 3, .ipv6)))
        #expect(effect.reasons == [.addressRemoved, .routeReplaced])
        #expect(effect.staleSubjects == [.routes(.ipv6, table: .main)])
        #expect(story.snapshot.routes(.ipv6, .main).first?.message.preferredSource == nil)
    }

    @Test("IPv6 routes go with their link even if the kernel is told not to say so (skip_notify_on_dev_down)")
    func silentIPv6() {
        var story = ModelStory()
        story.link(3)
        let route = ModelStory.route(via: 1, on: 3, .ipv6)
        story.tell(.route(route), Place.alone)
        #expect(story.link(3, up: false).reasons == [.linkDown, .routeRemoved])
        #expect(!story.tell(.routeRemoved(route)).changed)
    }

    @Test("A nexthop object takes its IPv4 routes with it (libnl#418)")
    func nexthopDeleted() {
        var story = ModelStory()
        story.link(3)
        story.tell(.nexthop(nexthop(7, on: 3)))
        story.tell(.route(ModelStory.route(via: 1, on: 3) { $0.nexthopID = 7 }), Place.alone)
        let effect = story.tell(.nexthopRemoved(.init(id: 7)))
        #expect(effect.reasons == [.nexthopChanged, .routeFlushed])
        #expect(effect.predictions == [Self.mainIPv4])
        #expect(story.ways() == [])
    }

    @Test("A nexthop object goes with its device's carrier, and leaves its groups, in silence")
    func nexthopCarrier() {
        var story = ModelStory()
        for index in [3, 4] as [InterfaceIndex] { story.link(index) }
        story.tell(.nexthop(nexthop(7, on: 3)))
        story.tell(.nexthop(nexthop(8, on: 4)))
        var group = NexthopMessage(id: 9)
        group.group = [.init(id: 7), .init(id: 8, weight: 2)]
        story.tell(.nexthop(group))
        story.tell(.route(ModelStory.route(via: nil, on: 3) { $0.nexthopID = 9 }), Place.alone)
        story.tell(.route(ModelStory.route(via: 1, on: 3, metric: 5) { $0.nexthopID = 7 }), Place.alone)
        #expect(story.ways() == [[7, 8], [7]])
        #expect(story.link(3, carrier: false).reasons == [.carrierLost, .nexthopChanged, .routeFlushed])
        #expect(story.ways() == [[8]])
        story.link(4, carrier: false)
        #expect(story.snapshot.nexthops.isEmpty)
        #expect(story.ways() == [])
    }

    @Test("A plain new route shows that what the model still held was gone before")
    func shownGone() {
        var story = ModelStory()
        story.link(3)
        story.tell(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        let effect = story.tell(.route(ModelStory.route(via: 2, on: 3)), Place.alone)
        #expect(effect.reasons == [.routeFlushed, .routeAdded])
        #expect(story.ways() == [[2]])
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
