import Testing

@testable import ReachabilityCore

@Suite("Links")
struct LinkApplicationTests {
    @Test("They are kept in the order of their indexes, whatever the order in which they come")
    func order() {
        var story = ModelStory()
        for index in [5, 1, 9, 3, 7, 2] as [InterfaceIndex] { story.link(index) }
        #expect(story.snapshot.links.map(\.index) == [1, 2, 3, 5, 7, 9])
        #expect(story.snapshot.link(7)?.name == "eth7")
        #expect(story.snapshot.link(4) == nil)
    }

    @Test("A wireless event on each scan overwrites nothing, though it lacks nearly all")
    func wireless() {
        var story = ModelStory()
        story.link(3) { $0.masterIndex = 9 }
        let before = story.snapshot
        var event = LinkMessage(index: 3)
        event.name = "eth3"
        event.isWirelessEvent = true
        event.flags = .running
        #expect(!story.tell(.link(event)).changed)
        #expect(story.snapshot == before)
    }

    @Test("A message without IFLA_MTU describes a link all the same")
    func withoutMTU() {
        var story = ModelStory()
        var message = LinkMessage(index: 3)
        (message.name, message.kind, message.operationalState) = ("br0", "bridge", .up)
        #expect(story.tell(.link(message)).reasons == [.linkAdded])
        #expect(story.snapshot.link(3)?.kind == "bridge")
        message.kind = "bond"
        message.masterIndex = 2
        #expect(story.tell(.link(message)).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == 2)
    }

    @Test("A partial message keeps what it does not carry, and makes no link")
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
        #expect(story.tell(.link(partial)).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == 9)
        #expect(story.snapshot.link(3)?.kind == "veth")
        #expect(story.snapshot.link(3)?.group == 7)
        partial.index = 4
        #expect(!story.tell(.link(partial)).changed)
        #expect(story.snapshot.link(4) == nil)
    }

    @Test("A full message without a master says that there is none")
    func released() {
        var story = ModelStory()
        story.link(3) { $0.masterIndex = 9 }
        #expect(story.link(3).reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.masterIndex == nil)
    }

    @Test("A bridge's word about a port is not the link's: neither its message nor its removal")
    func bridgePort() {
        var story = ModelStory()
        story.link(3)
        var port = ModelStory.link(3, up: false)
        port.family = 7
        #expect(!story.tell(.link(port)).changed)
        #expect(!story.tell(.linkRemoved(port)).changed)
        #expect(story.snapshot.link(3)?.flags.contains(.up) == true)
    }

    @Test("Renaming keeps the link; what identifies it is its index")
    func renamed() {
        var story = ModelStory()
        story.link(3)
        story.tell(.route(ModelStory.route(via: 1, on: 3)))
        #expect(story.link(3) { $0.name = "uplink" }.reasons == [.linkChanged])
        #expect(story.snapshot.link(3)?.name == "uplink")
        #expect(story.ways() == [[1]])
    }

    @Test("An IPv6 route that is added before its device's state follows the carrier is used until that changes")
    func addedBeforeState() {
        var story = ModelStory()
        var settings = NetconfMessage(family: .ipv6, index: 3)
        settings.ignoresRoutesWithLinkDown = true
        story.tell(.netconf(settings))
        story.link(3, carrier: false)
        story.tell(.route(ModelStory.route(via: 1, on: 3, .ipv6) { $0.nextHops[0].flags = [.dead, .linkDown] }))
        story.link(3, carrier: false) { $0.flags.insert(.lowerUp) }
        story.tell(.route(ModelStory.route(via: 2, on: 3, .ipv6, metric: 1)))
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

    @Test("An index that is used again begins anew")
    func reused() {
        var story = ModelStory()
        story.link(3)
        story.tell(.address(ModelStory.address(2, on: 3)))
        story.tell(.route(ModelStory.route(via: 1, on: 3)))
        story.tell(.neighbour(.init(index: 3, address: ModelStory.host(1), state: .reachable)))
        var settings = NetconfMessage(family: .ipv4, index: 3)
        settings.ignoresRoutesWithLinkDown = true
        story.tell(.netconf(settings))
        story.tell(.uevent(.init(action: .add, interface: "eth3", index: 3, deviceType: "wwan")))
        let effect = story.tell(.linkRemoved(ModelStory.link(3, up: false)))
        #expect(effect.reasons == [.linkRemoved, .routeFlushed])
        #expect(story.snapshot == NetworkSnapshot())
        #expect(story.link(3).reasons == [.linkAdded])
    }

    @Test("What changes of a link is told apart: its being up, its carrier, the rest")
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

    @Test("Messages that change nothing for a path have no effect (tailscale#16762, coder#11029)")
    func unchanged() {
        var story = ModelStory()
        story.link(3)
        #expect(!story.link(3).changed)
        #expect(!story.link(3) { $0.flags.formUnion(.init(rawValue: 0x100)) }.changed)
        #expect(!story.link(3) { $0.mtu = 9000 }.changed)
        #expect(story.snapshot.link(3)?.mtu == 9000)
    }
}
