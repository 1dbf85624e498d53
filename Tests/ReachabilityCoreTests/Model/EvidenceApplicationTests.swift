import Testing

@testable import ReachabilityCore

@Suite("Neighbours, settings and devices")
struct EvidenceApplicationTests {
    @Test("A neighbour's state is kept until it is removed")
    func neighbours() {
        var story = ModelStory()
        let gateway = ModelStory.host(1)
        let key = NeighbourKey(index: 3, address: gateway)
        let reachable = NeighbourMessage(index: 3, address: gateway, state: .reachable)
        #expect(story.apply(.neighbour(reachable)).reasons == [.neighbourChanged])
        #expect(!story.apply(.neighbour(reachable)).changed)
        story.apply(.neighbour(.init(index: 3, address: gateway, state: .failed)))
        #expect(story.snapshot.neighbours[key] == .failed)
        #expect(story.apply(.neighbourRemoved(reachable)).reasons == [.neighbourChanged])
        #expect(story.snapshot.neighbours[key] == nil)
    }

    @Test("A message about one setting leaves the others unchanged")
    func settings() {
        var story = ModelStory()
        var message = NetconfMessage(family: .ipv4, index: 3)
        message.forwarding = true
        #expect(story.apply(.netconf(message)).reasons == [.settingChanged])
        message.forwarding = nil
        message.ignoresRoutesWithLinkDown = true
        story.apply(.netconf(message))
        #expect(story.snapshot.settings[.init(.ipv4, 3)]?.forwarding == true)
        #expect(story.snapshot.ignoresRoutesWithLinkDown(.ipv4, 3))
        #expect(!story.snapshot.ignoresRoutesWithLinkDown(.ipv6, 3))
        #expect(story.apply(.netconfRemoved(message)).reasons == [.settingChanged])
        #expect(story.snapshot.settings.isEmpty)
    }

    @Test("IPv4's default setting is silently copied to devices, so their settings are read again")
    func defaults() {
        var story = ModelStory()
        var message = NetconfMessage(family: .ipv4, index: NetconfMessage.defaultInterface)
        message.ignoresRoutesWithLinkDown = true
        let effect = story.apply(.netconf(message))
        #expect(effect.reasons == [])
        #expect(effect.staleSubjects == [.netconf(.ipv4)])
    }

    @Test("A device's type and driver are kept while it exists, even if a uevent lacks them")
    func devices() {
        var story = ModelStory()
        var event = UeventMessage(action: .add, interface: "wwan0", index: 3, deviceType: "wwan")
        event.driver = "cdc_ether"
        #expect(story.apply(.uevent(event)).reasons == [.deviceChanged])
        #expect(!story.apply(.uevent(.init(action: .move, interface: "modem0", index: 3))).changed)
        #expect(story.snapshot.devices[3]?.deviceType == "wwan")
        #expect(story.snapshot.devices[3]?.driver == "cdc_ether")
        #expect(story.apply(.uevent(.init(action: .remove, interface: "modem0", index: 3))).reasons == [.deviceChanged])
        #expect(story.snapshot.devices[3] == nil)
    }

    @Test("A device inherits nothing from another one with the same index whose removal was missed")
    func replacedDevice() {
        var story = ModelStory()
        var modem = UeventMessage(action: .add, interface: "wwan0", index: 3, deviceType: "wwan")
        modem.driver = "cdc_ether"
        modem.probe = .answered
        story.apply(.uevent(modem))
        #expect(story.apply(.uevent(.init(action: .add, interface: "eth0", index: 3))).reasons == [.deviceChanged])
        #expect(story.snapshot.devices[3] == UeventMessage(action: .add, interface: "eth0", index: 3))
    }
}
