import Testing

@testable import ReachabilityCore

@Suite("nl80211's messages combined with those of links")
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
    private mutating func apply(
        _ command: WirelessMessage.Command,
        _ change: (inout WirelessMessage) -> Void = { _ in }
    ) -> SnapshotEffect {
        var message = WirelessMessage(command, index: 3)
        change(&message)
        return story.apply(.wireless(message))
    }

    @Test("An interface that nl80211 reports is a Wi-Fi interface until it is removed")
    mutating func kinds() {
        #expect(apply(.newInterface) { $0.mode = .station }.reasons == [.deviceChanged])
        #expect(!apply(.newInterface) { $0.mode = .station }.changed)
        #expect(story.snapshot.devices.wireless[3]?.mode == .station)
        // The link's message decides when it is gone: until then its kind stays.
        #expect(!apply(.deleteInterface).changed)
        #expect(story.snapshot.devices.wireless[3] != nil)
        story.apply(.linkRemoved(ModelStory.link(3)))
        #expect(story.snapshot.devices.wireless[3] == nil)
        // The other order, as the two arrive on different sockets.
        apply(.disconnect)
        apply(.deleteInterface)
        #expect(story.snapshot.devices.wireless[3] == nil)
    }

    @Test("Properties that a reply lacks are kept")
    mutating func partialReplies() {
        apply(.newInterface) { message in
            message.mode = .station
            message.radio = 1
        }
        apply(.newInterface)
        #expect(story.snapshot.devices.wireless[3]?.mode == .station)
        #expect(story.snapshot.devices.wireless[3]?.radio == 1)
    }

    @Test("An access point's stations change nothing")
    mutating func stations() {
        #expect(!apply(.newStation).changed)
        #expect(!apply(.deleteStation).changed)
        #expect(!apply(.scanResult).changed)
        #expect(story.snapshot.devices.wireless[3] == nil)
    }

    @Test("A disconnection makes an interface unusable before its link changes, and a connection makes it usable again")
    mutating func disconnection() {
        apply(.connect) { $0.status = 0 }
        #expect(apply(.disconnect).reasons == [.carrierLost])
        #expect(!canCarry)
        #expect(!apply(.disconnect).changed)
        #expect(apply(.connect) { $0.status = 0 }.reasons == [.carrierGained])
        #expect(canCarry)
    }

    @Test("A roam also ends a disconnection")
    mutating func roamAfterDisconnection() {
        apply(.disconnect)
        #expect(apply(.roam).reasons.contains(.carrierGained))
        #expect(canCarry)
    }

    @Test("A link that regains its carrier ends a disconnection, even without a message of nl80211")
    mutating func regainedCarrier() {
        apply(.disconnect)
        story.link(3, carrier: false)
        #expect(!canCarry)
        #expect(story.link(3).reasons == [.carrierGained])
        #expect(association == .unknown)
        #expect(canCarry)
    }

    @Test("A message of a link that never lost its carrier does not end a disconnection")
    mutating func unchangedCarrier() {
        apply(.disconnect)
        story.link(3) { $0.mtu = 1_400 }
        #expect(!canCarry)
        // The operational state alone, which a program may set late, is no carrier.
        story.link(3, carrier: false)
        story.link(3, carrier: false) { $0.operationalState = .up }
        #expect(association == .disassociated)
    }

    @Test("A link without its driver's carrier is unusable even if the kernel has not changed its state yet")
    mutating func carrierBeforeState() {
        #expect(story.link(3, carrier: false) { $0.operationalState = .up }.reasons == [.carrierLost])
        #expect(!canCarry)
        #expect(!story.link(3, carrier: false).reasons.contains(.carrierLost))
        story.link(3) { $0.operationalState = .down }
        #expect(!canCarry)
        #expect(story.link(3).reasons == [.carrierGained])
        #expect(canCarry)
    }

    @Test("Both orders of messages have the same result", arguments: [true, false])
    mutating func orders(linkIsFirst: Bool) {
        apply(.connect)
        if linkIsFirst {
            story.link(3, carrier: false)
            apply(.disconnect)
        } else {
            apply(.disconnect)
            story.link(3, carrier: false)
        }
        #expect(!canCarry)
        #expect(!isAssociating)
        apply(.authenticate) { $0.status = 0 }
        apply(.associate) { $0.status = 0 }
        #expect(isAssociating)
        if linkIsFirst {
            story.link(3)
            apply(.connect)
        } else {
            apply(.connect)
            // The link's message follows.
            #expect(isAssociating)
            story.link(3)
        }
        #expect(canCarry)
        #expect(!isAssociating)
    }

    @Test("An unknown association excludes nothing")
    mutating func unknown() {
        apply(.newInterface) { $0.mode = .station }
        #expect(association == .unknown)
        #expect(canCarry)
        // As when the monitor starts while a station is associated, and its driver can roam meanwhile.
        for command in [WirelessMessage.Command.authenticate, .associate, .deauthenticate, .disassociate] {
            apply(command) { $0.address = Self.attic }
            #expect(canCarry)
        }
        apply(.connect) { $0.status = 17 }
        #expect(canCarry)
    }

    @Test("A network's name in a reply shows an association; its absence shows nothing")
    mutating func names() {
        apply(.newInterface) { $0.mode = .station }
        #expect(association == .unknown)
        apply(.newInterface) { $0.ssid = Array("home".utf8) }
        #expect(association == .associated)
        apply(.newInterface)
        #expect(association == .associated)
        apply(.disconnect)
        apply(.newInterface) { $0.ssid = Array("home".utf8) }
        #expect(association == .disassociated)
    }

    @Test(
        "Steps and failures of an association",
        arguments: [(0, false), (13, false), (nil, true)] as [(UInt16?, Bool)]
    )
    mutating func steps(status: UInt16?, hasTimedOut: Bool) {
        story.link(3, carrier: false)
        let isStep = status == 0
        let effect = apply(.authenticate) { message in
            message.status = status
            message.hasTimedOut = hasTimedOut
        }
        #expect(association == (isStep ? .associating : .disassociated))
        #expect(effect.reasons == (isStep ? [.deviceChanged, .linkChanged] : [.deviceChanged]))
        apply(.associate) { $0.status = 0 }
        #expect(association == .associating)
        apply(.connect) { $0.status = 1 }
        #expect(association == .disassociated)
    }

    @Test("A deauthentication ends an attempt, and an association only if it concerns its access point")
    mutating func farewells() {
        story.link(3, carrier: false)
        apply(.authenticate)
        apply(.deauthenticate) { $0.address = Self.home }
        #expect(association == .disassociated)
        story.link(3)
        apply(.connect) { $0.address = Self.home }
        apply(.deauthenticate) { $0.address = Self.attic }
        #expect(canCarry)
        apply(.deauthenticate)
        #expect(canCarry)
        apply(.disassociate) { $0.address = Self.home }
        #expect(!canCarry)
    }

    @Test(
        "Access points, meshes and monitors have no association",
        arguments: [.accessPoint, .mesh, .monitor, .adHoc] as [WirelessMode]
    )
    mutating func otherModes(mode: WirelessMode) {
        apply(.newInterface) { $0.mode = mode }
        apply(.disconnect)
        #expect(canCarry)
        story.link(3) { $0.operationalState = .dormant }
        #expect(!isAssociating)
        // It was a station before; its disconnection is forgotten with its mode.
        apply(.setInterface) { $0.mode = .station }
        #expect(association == .unknown)
    }

    @Test("A Wi-Fi Direct client associates as a station does")
    mutating func peers() {
        apply(.newInterface) { $0.mode = .peerClient }
        apply(.disconnect)
        #expect(!canCarry)
    }

    @Test("A Wi-Fi interface that is dormant, or running without a carrier, is associating; other links are not")
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
        story.apply(.uevent(.init(action: .add, interface: "wlan0", index: 3, deviceType: "wlan")))
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

    @Test("A wireless state does not apply to another interface with the same index")
    mutating func reuse() {
        apply(.disconnect)
        story.apply(.linkRemoved(ModelStory.link(3)))
        apply(.disconnect)
        story.link(3)
        #expect(canCarry)
    }

    @Test("A move to another access point is a roam, with or without a loss in between")
    mutating func roams() {
        #expect(apply(.connect) { $0.address = Self.home }.roams == [])
        #expect(apply(.roam) { $0.address = Self.attic }.roams == [3])
        #expect(story.snapshot.devices.wireless[3]?.accessPoint == Self.attic)
        apply(.disconnect)
        #expect(apply(.connect) { $0.address = Self.attic }.roams == [])
        apply(.disconnect)
        apply(.connect) { message in
            message.address = Self.home
            message.status = 1
        }
        #expect(apply(.connect) { $0.address = Self.home }.roams == [3])
    }

    @Test("After a loss of messages only the links decide")
    mutating func loss() {
        apply(.disconnect)
        var effect = SnapshotEffect()
        story.snapshot.forgetAssociations(&effect)
        #expect(effect.reasons == [.carrierGained])
        #expect(canCarry)
    }
}
