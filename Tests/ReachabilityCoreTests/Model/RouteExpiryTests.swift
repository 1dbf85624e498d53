import Testing

@testable import ReachabilityCore

@Suite("Routes that expire")
struct RouteExpiryTests {
    private static let second: Int64 = 1_000_000_000

    @Test("A lifetime starts with its message")
    func moments() {
        var story = ModelStory()
        story.now = .init(nanoseconds: 5 * Self.second)
        story.apply(.route(route(1, lifetime: 30)), .create)
        story.apply(.route(route(2, lifetime: 10)), .create)
        story.apply(.route(ModelStory.route(via: 3, on: 3, .ipv6, metric: 9)), .create)
        #expect(expiries(in: story) == [15, 35])
    }

    @Test("A refreshed lifetime, which only a dump shows, postpones the expiry and is no change")
    func refreshed() {
        var story = ModelStory()
        story.apply(.route(route(1, lifetime: 10)), .create)
        story.now = .init(nanoseconds: 9 * Self.second)
        var assembly = DumpAssembly()
        assembly.begin(.routes(.ipv6, table: .main))
        assembly.take(
            .route(route(1, lifetime: 10)),
            ModelStory.header(.multi),
            of: .routes(.ipv6, table: .main),
            at: story.now
        )
        #expect(!assembly.commit(to: &story.snapshot).changed)
        #expect(expiries(in: story) == [19])
    }

    @Test("A route that the kernel lists as expired is not added, and is removed if known")
    func listedExpired() {
        var story = ModelStory()
        story.apply(.route(route(1, lifetime: 10)), .create)
        #expect(story.apply(.route(route(1, lifetime: 0)), .multi).reasons == [.routeRemoved])
        #expect(story.snapshot.routes.keys.isEmpty)
    }

    @Test("An expired route is remembered until there is a route through its interface, or the interface is removed")
    func remembered() {
        var story = ModelStory()
        let key = RouteTableKey(.ipv6, .main)
        story.apply(.route(route(1, lifetime: 0)), .multi)
        story.apply(.routeRemoved(route(1, lifetime: 0)))
        #expect(story.snapshot.routes.expired[key]?.map(\.nextHops) == [route(1, lifetime: 0).nextHops])
        story.apply(.route(ModelStory.route(via: 9, on: 4, .ipv6)), .create)
        #expect(story.snapshot.routes.expired[key]?.count == 1)
        story.apply(.route(route(2, lifetime: 10)), .create)
        #expect(story.snapshot.routes.expired.isEmpty)
        var assembly = DumpAssembly()
        assembly.begin(.routes(.ipv6, table: .main))
        let header = ModelStory.header(.multi)
        assembly.take(.route(route(1, lifetime: 0)), header, of: .routes(.ipv6, table: .main), at: story.now)
        _ = assembly.commit(to: &story.snapshot)
        #expect(story.snapshot.routes.expired[key]?.count == 1)
        story.snapshot.routes.forgetExpired(through: 3)
        #expect(story.snapshot.routes.expired.isEmpty)
    }

    /// When the routes expire, in seconds.
    private func expiries(in story: ModelStory) -> [Int64] {
        story.snapshot.routes(.ipv6, .main).compactMap { $0.expiry.map { $0.nanoseconds / Self.second } }.sorted()
    }

    private func route(_ gateway: UInt8, lifetime: Int) -> RouteMessage {
        ModelStory.route(via: gateway, on: 3, .ipv6) {
            $0.origin = RouteMessage.routerAdvertisement
            $0.lifetime = .seconds(lifetime)
        }
    }
}
