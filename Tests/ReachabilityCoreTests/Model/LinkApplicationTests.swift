import Testing

@testable import ReachabilityCore

@Suite("Links")
struct LinkApplicationTests {
    @Test("Links are kept in the order of their indexes, in whatever order they arrive")
    func order() {
        var story = ModelStory()
        for index in [5, 1, 9, 3, 7, 2] as [InterfaceIndex] { story.link(index) }
        #expect(story.snapshot.links.map(\.index) == [1, 2, 3, 5, 7, 9])
        #expect(story.snapshot.link(7)?.name == "eth7")
        #expect(story.snapshot.link(4) == nil)
    }

    @Test("A wireless event, which lacks nearly everything, overwrites nothing")
    func wireless() {
        var story = ModelStory()
        story.link(3) { $0.masterIndex = 9 }
        let before = story.snapshot
        var event = LinkMessage(index: 3)
        event.name = "eth3"
        event.isWirelessEvent = true
        event.flags = .running
        #expect(!story.apply(.link(event)).changed)
        #expect(story.snapshot == before)
    }

    @Test("A message without IFLA_MTU still describes a link")
    func withoutMTU() {
        var story = ModelStory()
        var message = LinkMessage(index: 3)
        (message.name, message.kind, message.operationalState) = ("br0", "bridge", .up)
        #expect(story.apply(.link(message)).reasons == [.linkAdded])
        #expect(story.snapshot.link(3)?.kind == "bridge")
        message.kind = "bond"
        message.masterIndex = 2
        #expect(story.apply(.link(message)).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == 2)
    }

    @Test("A partial message keeps the properties that it lacks, and adds no link")
    func partial() {
        var story = ModelStory()
        story.link(3) {
            $0.masterIndex = 9
            $0.kind = "veth"
        }
        var partial = LinkMessage(index: 3)
        partial.hardwareType = .ethernet
        partial.flags = [.up, .running, .lowerUp]
        partial.group = 7
        #expect(story.apply(.link(partial)).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == 9)
        #expect(story.snapshot.link(3)?.kind == "veth")
        #expect(story.snapshot.link(3)?.group == 7)
        partial.index = 4
        #expect(!story.apply(.link(partial)).changed)
        #expect(story.snapshot.link(4) == nil)
    }

    @Test("A full message without a master removes the master")
    func released() {
        var story = ModelStory()
        story.link(3) { $0.masterIndex = 9 }
        #expect(story.link(3).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == nil)
    }

    @Test("A bridge's message about a port neither changes nor removes the link")
    func bridgePort() {
        var story = ModelStory()
        story.link(3)
        var port = ModelStory.link(3, up: false)
        port.family = 7
        #expect(!story.apply(.link(port)).changed)
        #expect(!story.apply(.linkRemoved(port)).changed)
        #expect(story.snapshot.link(3)?.flags.contains(.up) == true)
    }

    @Test("A renamed link is the same link: its index identifies it")
    func renamed() {
        var story = ModelStory()
        story.link(3)
        story.apply(.route(ModelStory.route(via: 1, on: 3)))
        #expect(story.link(3) { $0.name = "uplink" }.reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.name == "uplink")
        #expect(story.nextHopNumbers() == [[1]])
    }

    @Test("An IPv6 route that is added before its device's state follows the carrier is used until the state changes")
    func addedBeforeState() {
        var story = ModelStory()
        var settings = NetconfMessage(family: .ipv6, index: 3)
        settings.ignoresRoutesWithLinkDown = true
        story.apply(.netconf(settings))
        story.link(3, carrier: false)
        story.apply(.route(ModelStory.route(via: 1, on: 3, .ipv6) { $0.nextHops[0].flags = [.dead, .linkDown] }))
        story.link(3, carrier: false) { $0.flags.insert(.lowerUp) }
        story.apply(.route(ModelStory.route(via: 2, on: 3, .ipv6, metric: 1)))
        let isOut = {
            let model = LookupModel(story.snapshot, at: story.now)
            return story.snapshot.routes(.ipv6, .main).map { model.isOut($0.message.nextHops[0], .ipv6) }
        }
        #expect(isOut() == [true, false])
        let flags = story.snapshot.routes(.ipv6, .main).map { story.snapshot.nextHops(of: $0)[0].flags }
        #expect(flags == [[.dead, .linkDown], []])
        story.link(3, carrier: false)
        #expect(isOut() == [true, true])
        story.link(3)
        #expect(isOut() == [false, false])
    }

    @Test("A link with a reused index inherits nothing")
    func reused() {
        var story = ModelStory()
        story.link(3)
        story.apply(.address(ModelStory.address(2, on: 3)))
        story.apply(.route(ModelStory.route(via: 1, on: 3)))
        story.apply(.neighbour(.init(index: 3, address: ModelStory.host(1), state: .reachable)))
        var settings = NetconfMessage(family: .ipv4, index: 3)
        settings.ignoresRoutesWithLinkDown = true
        story.apply(.netconf(settings))
        story.apply(.uevent(.init(action: .add, interface: "eth3", index: 3, deviceType: "wwan")))
        let effect = story.apply(.linkRemoved(ModelStory.link(3, up: false)))
        #expect(effect.reasons == [.linkRemoved, .routeFlushed])
        #expect(story.snapshot == NetworkSnapshot())
        #expect(story.link(3).reasons == [.linkAdded])
    }

    @Test("A device is kept if its link is renamed, and forgotten if a link of another kind has its index")
    func otherKind() {
        var story = ModelStory()
        story.link(3)
        story.apply(.uevent(.init(action: .add, interface: "eth3", index: 3, deviceType: "bluetooth")))
        story.link(3) { $0.name = "bnep0" }
        #expect(story.snapshot.devices[3]?.deviceType == "bluetooth")
        // No RTM_DELLINK was received.
        #expect(story.link(3) { $0.kind = "veth" }.reasons == [.linkChanged])
        #expect(story.snapshot.devices[3] == nil)
        // The device of an interface that is down is not examined.
        story.snapshot.devices.expect(3, isReplacement: false)
        story.link(3) { ($0.kind, $0.flags) = (nil, []) }
        #expect(story.snapshot.devices.awaited.isEmpty)
    }

    @Test("Changes of a link's up flag, its carrier and its other properties are distinguished")
    func reasons() {
        var story = ModelStory()
        story.link(3, up: false)
        #expect(story.link(3, carrier: false).reasons == [.linkUp])
        #expect(story.link(3).reasons == [.carrierGained])
        #expect(story.link(3, carrier: false).reasons == [.carrierLost])
        #expect(story.link(3, up: false).reasons == [.linkDown])
        #expect(story.link(3).reasons == [.linkUp, .carrierGained])
        #expect(story.link(3) { $0.operationalState = .dormant }.reasons == [.carrierLost])
    }

    @Test("Messages that are irrelevant to paths have no effect (tailscale#16762, coder#11029)")
    func unchanged() {
        var story = ModelStory()
        story.link(3)
        #expect(!story.link(3).changed)
        #expect(!story.link(3) { $0.flags.formUnion(.init(rawValue: 0x100)) }.changed)
        #expect(!story.link(3) { $0.mtu = 9000 }.changed)
        #expect(story.snapshot.link(3)?.mtu == 9000)
    }
}
