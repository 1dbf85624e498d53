import Testing

@testable import ReachabilityCore

@Suite("What nl80211 tells, joined with what links tell")
struct WirelessApplicationTests {
    private var story = ModelStory()
    private static let home: [UInt8] = [2, 0, 0, 0, 1, 0]
    private static let attic: [UInt8] = [2, 0, 0, 0, 2, 0]

    init() {
        story.link(3)
    }

    private var association: WirelessState.Association? { story.snapshot.devices.wireless[3]?.association }

    private var isAssociating: Bool {
        story.snapshot.link(3).map(story.snapshot.devices.isAssociating) ?? false
    }

    private var canCarry: Bool { story.snapshot.canCarry(linkAt: 0) }

    @discardableResult
    private mutating func tell(
        _ command: WirelessMessage.Command,
        _ change: (inout WirelessMessage) -> Void = { _ in }
    ) -> SnapshotEffect {
        var message = WirelessMessage(command, index: 3)
        change(&message)
        return story.tell(.wireless(message))
    }

    @Test("An interface of which nl80211 tells is a WiFi one, until it goes")
    mutating func kinds() {
        #expect(tell(.newInterface) { $0.mode = .station }.reasons == [.deviceChanged])
        #expect(!tell(.newInterface) { $0.mode = .station }.changed)
        #expect(story.snapshot.devices.wireless[3]?.mode == .station)
        // What is gone is the link's to tell: until then it is no other kind of interface.
        #expect(!tell(.deleteInterface).changed)
        #expect(story.snapshot.devices.wireless[3] != nil)
        story.tell(.linkRemoved(ModelStory.link(3)))
        #expect(story.snapshot.devices.wireless[3] == nil)
        // The other order, as the two come by different sockets.
        tell(.disconnect)
        tell(.deleteInterface)
        #expect(story.snapshot.devices.wireless[3] == nil)
    }

    @Test("What the answer leaves out stays known")
    mutating func partialAnswers() {
        tell(.newInterface) { message in
            message.mode = .station
            message.radio = 1
        }
        tell(.newInterface)
        #expect(story.snapshot.devices.wireless[3]?.mode == .station)
        #expect(story.snapshot.devices.wireless[3]?.radio == 1)
    }

    @Test("Stations of an access point alter nothing")
    mutating func stations() {
        #expect(!tell(.newStation).changed)
        #expect(!tell(.deleteStation).changed)
        #expect(!tell(.scanResult).changed)
        #expect(story.snapshot.devices.wireless[3] == nil)
    }

    @Test("A disconnection ends usability before the link does, and a connection ends that")
    mutating func disconnection() {
        tell(.connect) { $0.status = 0 }
        #expect(tell(.disconnect).reasons == [.carrierLost])
        #expect(!canCarry)
        #expect(!tell(.disconnect).changed)
        #expect(tell(.connect) { $0.status = 0 }.reasons == [.carrierGained])
        #expect(canCarry)
    }

    @Test("A roam ends a disconnection, too")
    mutating func roamAfterDisconnection() {
        tell(.disconnect)
        #expect(tell(.roam).reasons.contains(.carrierGained))
        #expect(canCarry)
    }

    @Test("A link that gets its carrier back ends a disconnection, whatever nl80211 does not tell")
    mutating func regainedCarrier() {
        tell(.disconnect)
        story.link(3, carrier: false)
        #expect(!canCarry)
        #expect(story.link(3).reasons == [.carrierGained])
        #expect(association == .unknown)
        #expect(canCarry)
    }

    @Test("A message of a link that never lost its carrier does not end a disconnection")
    mutating func unchangedCarrier() {
        tell(.disconnect)
        story.link(3) { $0.mtu = 1_400 }
        #expect(!canCarry)
        // The operational state alone, which a late program may set, is no carrier.
        story.link(3, carrier: false)
        story.link(3, carrier: false) { $0.operationalState = .up }
        #expect(association == .disassociated)
    }

    @Test("A link without its driver's carrier carries nothing, though the kernel has not lowered its state yet")
    mutating func carrierBeforeState() {
        #expect(story.link(3, carrier: false) { $0.operationalState = .up }.reasons == [.carrierLost])
        #expect(!canCarry)
        #expect(!story.link(3, carrier: false).reasons.contains(.carrierLost))
        story.link(3) { $0.operationalState = .down }
        #expect(!canCarry)
        #expect(story.link(3).reasons == [.carrierGained])
        #expect(canCarry)
    }

    @Test("The same ends come of both orders", arguments: [true, false])
    mutating func orders(linkIsFirst: Bool) {
        tell(.connect)
        if linkIsFirst {
            story.link(3, carrier: false)
            tell(.disconnect)
        } else {
            tell(.disconnect)
            story.link(3, carrier: false)
        }
        #expect(!canCarry)
        #expect(!isAssociating)
        tell(.authenticate) { $0.status = 0 }
        tell(.associate) { $0.status = 0 }
        #expect(isAssociating)
        if linkIsFirst {
            story.link(3)
            tell(.connect)
        } else {
            tell(.connect)
            // The link is to follow.
            #expect(isAssociating)
            story.link(3)
        }
        #expect(canCarry)
        #expect(!isAssociating)
    }

    @Test("What is not known rules nothing out")
    mutating func unknown() {
        tell(.newInterface) { $0.mode = .station }
        #expect(association == .unknown)
        #expect(canCarry)
        // As when the monitor starts while a station is associated, and its driver can go elsewhere meanwhile.
        for command in [WirelessMessage.Command.authenticate, .associate, .deauthenticate, .disassociate] {
            tell(command) { $0.address = Self.attic }
            #expect(canCarry)
        }
        tell(.connect) { $0.status = 17 }
        #expect(canCarry)
    }

    @Test("A network's name in an answer shows an association, and its lack shows nothing")
    mutating func names() {
        tell(.newInterface) { $0.mode = .station }
        #expect(association == .unknown)
        tell(.newInterface) { $0.ssid = Array("home".utf8) }
        #expect(association == .associated)
        tell(.newInterface)
        #expect(association == .associated)
        tell(.disconnect)
        tell(.newInterface) { $0.ssid = Array("home".utf8) }
        #expect(association == .disassociated)
    }

    @Test(
        "Steps and failures of an association",
        arguments: [(0, false), (13, false), (nil, true)] as [(UInt16?, Bool)]
    )
    mutating func steps(status: UInt16?, hasTimedOut: Bool) {
        story.link(3, carrier: false)
        let isStep = status == 0
        let effect = tell(.authenticate) { message in
            message.status = status
            message.hasTimedOut = hasTimedOut
        }
        #expect(association == (isStep ? .associating : .disassociated))
        #expect(effect.reasons == (isStep ? [.deviceChanged, .linkChanged] : [.deviceChanged]))
        tell(.associate) { $0.status = 0 }
        #expect(association == .associating)
        tell(.connect) { $0.status = 1 }
        #expect(association == .disassociated)
    }

    @Test("A farewell ends an attempt, and an association only if it is the access point's own")
    mutating func farewells() {
        story.link(3, carrier: false)
        tell(.authenticate)
        tell(.deauthenticate) { $0.address = Self.home }
        #expect(association == .disassociated)
        story.link(3)
        tell(.connect) { $0.address = Self.home }
        tell(.deauthenticate) { $0.address = Self.attic }
        #expect(canCarry)
        tell(.deauthenticate)
        #expect(canCarry)
        tell(.disassociate) { $0.address = Self.home }
        #expect(!canCarry)
    }

    @Test(
        "Access points, meshes and monitors have no association",
        arguments: [.accessPoint, .mesh, .monitor, .adHoc] as [WirelessMode]
    )
    mutating func otherModes(mode: WirelessMode) {
        tell(.newInterface) { $0.mode = mode }
        tell(.disconnect)
        #expect(canCarry)
        story.link(3) { $0.operationalState = .dormant }
        #expect(!isAssociating)
        // A station before, whose end is past with its mode.
        tell(.setInterface) { $0.mode = .station }
        #expect(association == .unknown)
    }

    @Test("A client of WiFi Direct associates as a station does")
    mutating func peers() {
        tell(.newInterface) { $0.mode = .peerClient }
        tell(.disconnect)
        #expect(!canCarry)
    }

    @Test("WiFi that is dormant, or runs without a carrier, is being associated; other links are not")
    mutating func links() {
        let dormant: (inout LinkMessage) -> Void = { $0.operationalState = .dormant }
        let falselyRunning: (inout LinkMessage) -> Void = { message in
            message.flags = [.up, .running]
            message.operationalState = .unknown
        }
        for change in [dormant, falselyRunning] {
            story.link(3, change)
            #expect(!isAssociating)
        }
        story.tell(.uevent(.init(action: .add, interface: "wlan0", index: 3, deviceType: "wlan")))
        for change in [dormant, falselyRunning] {
            story.link(3, change)
            #expect(isAssociating)
        }
        // Set dormant by a supplicant that has lost its network.
        story.link(3, carrier: false, dormant)
        #expect(!isAssociating)
        story.link(3, up: false, dormant)
        #expect(!isAssociating)
    }

    @Test("What was told of an interface is not believed of another one of its number")
    mutating func reuse() {
        tell(.disconnect)
        story.tell(.linkRemoved(ModelStory.link(3)))
        tell(.disconnect)
        story.link(3)
        #expect(canCarry)
    }

    @Test("Going to another access point is a roam, with a loss between or without")
    mutating func roams() {
        #expect(tell(.connect) { $0.address = Self.home }.roams == [])
        #expect(tell(.roam) { $0.address = Self.attic }.roams == [3])
        #expect(story.snapshot.devices.wireless[3]?.accessPoint == Self.attic)
        tell(.disconnect)
        #expect(tell(.connect) { $0.address = Self.attic }.roams == [])
        tell(.disconnect)
        tell(.connect) { message in
            message.address = Self.home
            message.status = 1
        }
        #expect(tell(.connect) { $0.address = Self.home }.roams == [3])
    }

    @Test("When messages were lost, the links alone count")
    mutating func loss() {
        tell(.disconnect)
        var effect = SnapshotEffect()
        story.snapshot.forgetAssociations(&effect)
        #expect(effect.reasons == [.carrierGained])
        #expect(canCarry)
    }
}
