import Testing

@testable import ReachabilityCore

@Suite("Routes")
struct RouteApplicationTests {
    private typealias Place = ModelStory.Place

    @Test("The flags decide the position of an IPv4 route: alone, first, last, or in place of another")
    func ipv4Places() {
        var story = ModelStory()
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.apply(.route(ModelStory.route(via: 2, on: 3)), Place.last)
        story.apply(.route(ModelStory.route(via: 3, on: 3)), Place.first)
        #expect(story.nextHopNumbers() == [[3], [1], [2]])
        #expect(story.apply(.route(ModelStory.route(via: 4, on: 3)), Place.instead).reasons == [.routeReplaced])
        #expect(story.nextHopNumbers() == [[4], [1], [2]])
        story.apply(.routeRemoved(ModelStory.route(via: 1, on: 3)))
        #expect(story.nextHopNumbers() == [[4], [2]])
    }

    @Test("Routes are in order of descending prefix length, descending TOS, then ascending metric")
    func ipv4Order() {
        var story = ModelStory()
        for (number, metric, tos) in [(1, 9, 0), (2, 5, 0), (3, 9, 16), (4, 0, 0)] as [(UInt8, UInt32, UInt8)] {
            story.apply(.route(ModelStory.route(via: number, on: 3, metric: metric) { $0.tos = tos }), Place.alone)
        }
        let half = ModelStory.route(via: 5, on: 3, metric: 99) {
            $0.destination = .init(.init(ipv4: 0), length: 1)
        }
        story.apply(.route(half), Place.alone)
        #expect(story.nextHopNumbers() == [[5], [3], [4], [2], [1]])
    }

    @Test("Routes that differ only in type or nexthop are distinct (libnl takes them for one)")
    func identity() {
        var story = ModelStory()
        let plain = ModelStory.route(via: 1, on: 3)
        let refusing = ModelStory.route(via: 1, on: 3) {
            $0.type = .unreachable
            $0.nextHops = []
        }
        story.apply(.route(plain), Place.alone)
        story.apply(.route(refusing), Place.last)
        story.apply(.route(ModelStory.route(via: 2, on: 3)), Place.last)
        #expect(story.snapshot.routes(.ipv4, .main).map(\.message.type) == [.unicast, .unreachable, .unicast])
        let dropping = ModelStory.route(via: 1, on: 3) {
            $0.type = .blackhole
            $0.nextHops = []
        }
        story.apply(.route(dropping), Place.last)
        story.apply(.routeRemoved(dropping))
        #expect(story.snapshot.routes(.ipv4, .main).map(\.message.type) == [.unicast, .unreachable, .unicast])
        story.apply(.routeRemoved(refusing))
        #expect(story.nextHopNumbers() == [[1], [2]])
    }

    @Test("A default route of another table is kept in that table (tailscale#4038)")
    func tables() {
        var story = ModelStory()
        let other = RouteTableID(rawValue: 5000)
        story.apply(.route(ModelStory.route(via: 1, on: 3, table: other)), Place.alone)
        #expect(story.nextHopNumbers() == [])
        #expect(story.nextHopNumbers(.ipv4, other) == [[1]])
    }

    @Test("A repeated message changes nothing, whatever its flags")
    func repeated() {
        for family in AddressFamily.allCases {
            var story = ModelStory()
            let routes = [1, 2].map { ModelStory.route(via: nil, on: InterfaceIndex($0), family) }
            for route in routes { story.apply(.route(route), Place.last) }
            let before = story.snapshot
            for route in routes {
                for place in [Place.listed, Place.last, Place.first] {
                    #expect(!story.apply(.route(route), place).changed)
                }
            }
            #expect(story.snapshot == before)
        }
    }

    @Test("Neither longer prefixes nor cache entries are kept")
    func notMirrored() {
        var story = ModelStory()
        let five = IPPrefix(.init(ipv4: 0x0800_0000), length: 5)
        #expect(!story.apply(.route(ModelStory.route(via: 1, on: 3) { $0.destination = five })).changed)
        #expect(!story.apply(.route(ModelStory.route(via: 1, on: 3) { $0.flags = 0x200 })).changed)
        #expect(story.snapshot == NetworkSnapshot())
    }

    @Test("IPv6 joins routes through gateways, with the new next hop first in the message")
    func ipv6Joined() {
        var story = ModelStory()
        story.apply(.route(ModelStory.route(via: 1, on: 3, .ipv6)), Place.alone)
        #expect(story.apply(.route(several(2, 1)), Place.last).reasons == [.routeAdded])
        story.apply(.route(several(4, 1, 2)), Place.last)
        #expect(story.nextHopNumbers(.ipv6) == [[1, 2, 4]])
        #expect(!story.apply(.route(several(1, 2, 4)), Place.listed).changed)
    }

    @Test("IPv6 removes a single next hop only if the message names one")
    func ipv6Leg() {
        var story = ModelStory()
        story.apply(.route(several(1, 2, 4)), Place.alone)
        #expect(story.apply(.routeRemoved(several(2))).staleSubjects == [])
        #expect(story.nextHopNumbers(.ipv6) == [[1, 4]])
        #expect(story.apply(.routeRemoved(several(1))).staleSubjects == [.routes(.ipv6, table: .main)])
        #expect(story.nextHopNumbers(.ipv6) == [[4]])
        story.apply(.routeRemoved(several(4)))
        #expect(story.snapshot.routes.keys.isEmpty)
    }

    @Test("IPv6 replaces a multipath route as a whole, and prefers one of the same kind")
    func ipv6Replaced() {
        var story = ModelStory()
        story.apply(.route(ModelStory.route(via: nil, on: 9, .ipv6)), Place.alone)
        story.apply(.route(several(1, 2)), Place.first)
        story.apply(.route(several(3)), Place.instead)
        #expect(story.nextHopNumbers(.ipv6) == [[9], [3]])
        story.apply(.route(ModelStory.route(via: nil, on: 8, .ipv6)), Place.instead)
        #expect(story.nextHopNumbers(.ipv6) == [[8], [3]])
    }

    @Test("Source-specific routes are distinct from the others, and come before them")
    func sources() {
        var story = ModelStory()
        story.apply(.route(ModelStory.route(via: 1, on: 3, .ipv6)), Place.alone)
        let specific = ModelStory.route(via: 1, on: 3, .ipv6) {
            $0.source = .init(ModelStory.host(0, .ipv6), length: 64)
        }
        story.apply(.route(specific), Place.alone)
        #expect(story.snapshot.routes(.ipv6, .main).map(\.message.source.length) == [64, 0])
        story.apply(.routeRemoved(ModelStory.route(via: 1, on: 3, .ipv6)))
        #expect(story.snapshot.routes(.ipv6, .main).map(\.message.source.length) == [64])
    }

    @Test("Routes of router advertisements are never joined")
    func advertised() {
        var story = ModelStory()
        for number in [1, 2] as [UInt8] {
            story.apply(.route(advertisement(number)), number == 1 ? Place.alone : Place.first)
        }
        #expect(story.nextHopNumbers(.ipv6) == [[1], [2]])
        #expect(!story.apply(.route(advertisement(2)), Place.first).changed)
        story.apply(.routeRemoved(advertisement(1)))
        #expect(story.nextHopNumbers(.ipv6) == [[2]])
    }

    @Test("Replacing a nexthop object changes the routes through it, with and without messages about them")
    func nexthopReplaced() {
        var story = ModelStory()
        for id in [7, 8] as [UInt32] {
            story.apply(.nexthop(nexthop(id, via: 1)))
            let route = ModelStory.route(via: 1, on: 3) { $0.nexthopID = id }
            story.apply(.route(route), id == 7 ? Place.alone : Place.last)
        }
        #expect(story.apply(.nexthop(nexthop(8, via: 2))).reasons == [.nexthopChanged])
        #expect(story.nextHopNumbers() == [[1], [2]])
        // In compatibility mode, each route is announced as a replacement of itself, not of the first of its metric.
        let announced = ModelStory.route(via: 2, on: 3) { $0.nexthopID = 8 }
        #expect(!story.apply(.route(announced), Place.instead).changed)
        #expect(story.nextHopNumbers() == [[1], [2]])
        var blackhole = NexthopMessage(id: 8)
        blackhole.isBlackhole = true
        story.apply(.nexthop(blackhole))
        #expect(story.snapshot.routes(.ipv4, .main).map(story.snapshot.type(of:)) == [.unicast, .blackhole])
    }

    private func several(_ numbers: UInt8...) -> RouteMessage {
        ModelStory.route(via: nil, on: 3, .ipv6) { route in
            route.nextHops = numbers.map { .init(interface: 3, gateway: ModelStory.host($0, .ipv6)) }
        }
    }

    private func advertisement(_ number: UInt8) -> RouteMessage {
        ModelStory.route(via: number, on: 3, .ipv6) {
            $0.origin = RouteMessage.routerAdvertisement
            $0.lifetime = .seconds(1800)
        }
    }

    private func nexthop(_ id: UInt32, via number: UInt8) -> NexthopMessage {
        var message = NexthopMessage(id: id)
        message.nextHop = .init(interface: 3, gateway: ModelStory.host(number))
        return message
    }
}
