import Testing

@testable import ReachabilityCore

@Suite("Dumps and their commit")
struct DumpAssemblyTests {
    private typealias Place = ModelStory.Place

    private static let main = DumpSubject.routes(.ipv4, table: .main)

    @Test("A dump replaces its table as a whole, and only differences are reported")
    func replaced() {
        var story = ModelStory()
        story.link(3)
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        story.apply(.route(ModelStory.route(via: 2, on: 3)), Place.last)
        #expect(read(Self.main, [1, 2], into: &story).reasons == [])
        #expect(read(Self.main, [2, 1], into: &story).reasons == [.routeReplaced])
        #expect(read(Self.main, [2, 3], into: &story).reasons == [.routeAdded, .routeRemoved])
        #expect(story.nextHopNumbers() == [[2], [3]])
    }

    @Test("An event during a dump takes precedence over the dump (GLib keeps the stale default route)")
    func eventsWin() {
        var story = ModelStory()
        story.link(3)
        var assembly = DumpAssembly()
        assembly.begin(Self.main)
        take([1, 2], &assembly)
        note(.routeRemoved(ModelStory.route(via: 1, on: 3)), [], &assembly, &story)
        note(.route(ModelStory.route(via: 3, on: 3)), Place.last, &assembly, &story)
        #expect(assembly.commit(to: &story.snapshot).reasons == [.routeAdded])
        #expect(story.nextHopNumbers() == [[2], [3]])
        #expect(!assembly.isReading)
    }

    @Test("A dump has no effect before it is committed")
    func aside() {
        var story = ModelStory()
        var assembly = DumpAssembly()
        assembly.begin(Self.main)
        take([1, 2], &assembly)
        #expect(story.snapshot == NetworkSnapshot())
        #expect(assembly.isReading)
        assembly.cancel()
        #expect(assembly.commit(to: &story.snapshot) == SnapshotEffect())
        #expect(story.snapshot == NetworkSnapshot())
    }

    @Test("A dump that was given up leaves its table unchanged when others are committed")
    func givenUp() {
        var story = ModelStory()
        story.link(3)
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        var assembly = DumpAssembly()
        for subject in [Self.main, .addresses(.ipv4)] { assembly.begin(subject) }
        let address = KernelEvent.address(ModelStory.address(2, on: 3))
        assembly.take(address, ModelStory.header(.multi), of: .addresses(.ipv4), at: story.now)
        assembly.cancel(Self.main)
        #expect(assembly.isReading)
        #expect(assembly.commit(to: &story.snapshot).reasons == [.addressAdded])
        #expect(story.nextHopNumbers() == [[1]])
    }

    @Test("A dump of one table, or of one interface, leaves the others unchanged")
    func filtered() {
        var story = ModelStory()
        let other = RouteTableID(rawValue: 300)
        story.apply(.route(ModelStory.route(via: 1, on: 3, table: other)), Place.alone)
        story.apply(.neighbour(.init(index: 3, address: ModelStory.host(1), state: .reachable)))
        story.apply(.neighbour(.init(index: 4, address: ModelStory.host(1), state: .reachable)))
        _ = read(Self.main, [2], into: &story)
        #expect(story.nextHopNumbers(.ipv4, other) == [[1]])
        var assembly = DumpAssembly()
        assembly.begin(.neighbours(.ipv4, interface: 4))
        #expect(assembly.commit(to: &story.snapshot).reasons == [.neighbourChanged])
        #expect(story.snapshot.neighbours.keys.map(\.index) == [3])
    }

    @Test("A kernel without IPv6 replies with IPv4's routes, which are dropped (ipv6.disable=1)")
    func foreignReplies() {
        var story = ModelStory()
        var assembly = DumpAssembly()
        let subject = DumpSubject.routes(.ipv6, table: nil)
        assembly.begin(subject)
        let entry = KernelEvent.route(ModelStory.route(via: 1, on: 3))
        assembly.take(entry, ModelStory.header(.multi), of: subject, at: story.now)
        #expect(!assembly.commit(to: &story.snapshot).changed)
        #expect(story.snapshot.routes.keys.isEmpty)
    }

    @Test("Any reply can show an interruption, and a new dump forgets it")
    func interrupted() {
        var assembly = DumpAssembly()
        assembly.begin(.links)
        let flags: NetlinkFlags = [.multi, .dumpInterrupted]
        assembly.take(.done(errno: 0), ModelStory.header(flags), of: .links, at: .init(nanoseconds: 0))
        #expect(assembly.reading(of: .links)?.isInterrupted == true)
        assembly.begin(.links)
        #expect(assembly.reading(of: .links)?.isInterrupted == false)
    }

    @Test("Dumps are compared with their order, but without lifetimes and the states of devices")
    func agreement() {
        func reading(_ numbers: [UInt8], lifetime: Int, flags: NextHopFlags) -> DumpReading {
            var reading = DumpReading(.routes(.ipv6, table: nil))
            for number in numbers {
                var route = ModelStory.route(via: number, on: 3, .ipv6) { $0.lifetime = .seconds(lifetime) }
                route.nextHops[0].flags = flags
                reading.take(.route(route), ModelStory.header(.multi), at: .init(nanoseconds: 0))
            }
            return reading
        }
        let first = reading([1, 2], lifetime: 30, flags: [])
        #expect(first.agrees(with: reading([1, 2], lifetime: 20, flags: .linkDown)))
        #expect(!first.agrees(with: reading([2, 1], lifetime: 30, flags: [])))
        #expect(!first.agrees(with: reading([1], lifetime: 30, flags: [])))
    }

    @Test("A route that only a dump has omitted is kept if the model has missed nothing")
    func missed() {
        for keeps in [false, true] {
            var story = ModelStory()
            story.link(3)
            for number in [1, 2, 3] as [UInt8] {
                story.apply(.route(ModelStory.route(via: number, on: 3)), Place.last)
            }
            let effect = read(Self.main, [1, 3, 4], keepsMissing: keeps, into: &story)
            #expect(effect.reasons == (keeps ? [.routeAdded] : [.routeAdded, .routeRemoved]))
            #expect(story.nextHopNumbers() == (keeps ? [[1], [2], [3], [4]] : [[1], [3], [4]]))
        }
    }

    @Test("A replacement during a dump makes the table stale, as it does not name the replaced route")
    func replacementDuringDump() {
        var story = ModelStory()
        story.link(3)
        var assembly = DumpAssembly()
        assembly.begin(Self.main)
        take([1, 2], &assembly)
        note(.route(ModelStory.route(via: 3, on: 3)), Place.instead, &assembly, &story)
        #expect(assembly.commit(to: &story.snapshot).staleSubjects == [Self.main])
    }

    @Test("Next hops are dead according to the final state of the devices, whichever was dumped first")
    func settled() {
        for isUp in [false, true] {
            var story = ModelStory()
            story.link(3, up: !isUp)
            story.link(4)
            story.apply(.address(ModelStory.address(9, on: 3)))
            var route = ModelStory.route(via: 1, on: 3)
            route.nextHops[0].flags = isUp ? [.dead, .linkDown] : []
            route.nextHops.append(.init(interface: 4, gateway: ModelStory.host(2)))
            var assembly = DumpAssembly()
            for subject in [Self.main, .links] { assembly.begin(subject) }
            assembly.take(.route(route), ModelStory.header(.multi), of: Self.main, at: story.now)
            for link in [ModelStory.link(3, up: isUp), ModelStory.link(4)] {
                assembly.take(.link(link), ModelStory.header(.multi), of: .links, at: story.now)
            }
            _ = assembly.commit(to: &story.snapshot)
            let nextHops = story.snapshot.routes(.ipv4, .main).first?.message.nextHops
            #expect(nextHops?.map { $0.flags.contains(.dead) } == [!isUp, false])
        }
    }

    @Test("Everything that belongs to a link is removed if a dump shows that the link is gone")
    func vanished() {
        var story = ModelStory()
        story.link(3)
        story.apply(.address(ModelStory.address(2, on: 3)))
        story.apply(.route(ModelStory.route(via: 1, on: 3)), Place.alone)
        var assembly = DumpAssembly()
        assembly.begin(.links)
        let effect = assembly.commit(to: &story.snapshot)
        #expect(effect.reasons == [.linkRemoved, .addressRemoved, .routeRemoved])
        #expect(effect.predictions == [.init(.ipv4, .main)])
        #expect(story.snapshot == NetworkSnapshot())
    }

    @Test("A device is forgotten if a dump shows another interface with its index")
    func reusedIndex() {
        let changes: [(inout LinkMessage) -> Void] = [{ $0.name = "eth9" }, { $0.kind = "veth" }]
        for change in changes {
            var story = ModelStory()
            story.link(3)
            story.apply(.uevent(.init(action: .add, interface: "eth3", index: 3, deviceType: "bluetooth")))
            story.apply(.wireless(WirelessMessage(.newInterface, index: 3)))
            var assembly = DumpAssembly()
            assembly.begin(.links)
            let other = KernelEvent.link(ModelStory.link(3, change))
            assembly.take(other, ModelStory.header(.multi), of: .links, at: story.now)
            #expect(assembly.commit(to: &story.snapshot).reasons == [.linkChanged])
            #expect(story.snapshot.devices == DeviceTable())
        }
    }

    private func read(
        _ subject: DumpSubject,
        _ gateways: [UInt8],
        keepsMissing: Bool = false,
        into story: inout ModelStory
    ) -> SnapshotEffect {
        var assembly = DumpAssembly()
        assembly.begin(subject)
        take(gateways, &assembly)
        return assembly.commit(to: &story.snapshot, keepsMissing: keepsMissing)
    }

    private func take(_ gateways: [UInt8], _ assembly: inout DumpAssembly) {
        for number in gateways {
            let entry = KernelEvent.route(ModelStory.route(via: number, on: 3))
            assembly.take(entry, ModelStory.header(.multi), of: Self.main, at: .init(nanoseconds: 0))
        }
    }

    private func note(
        _ event: KernelEvent,
        _ flags: NetlinkFlags,
        _ assembly: inout DumpAssembly,
        _ story: inout ModelStory
    ) {
        assembly.note(event, ModelStory.header(flags), at: story.now)
        story.apply(event, flags)
    }
}
