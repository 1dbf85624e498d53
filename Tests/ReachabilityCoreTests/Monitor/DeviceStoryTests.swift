import Testing

@testable import ReachabilityCore

/// Devices are probed in the background: the first state waits for the result, but not for ever.
@Suite struct DeviceStoryTests {
    @Test func `the first state waits for the device probe`() {
        var story = MonitorStory.withModem()
        story.start()
        #expect(story.probes == [.probe(3, name: "wwan0")])
        #expect(story.machine.counters.probes == 1)
        #expect(story.changes.isEmpty)
        story.find(.modem(3, "wwan0"))
        #expect(story.statuses == [.cellular])
        #expect(story.changes[0].path.interface?.kindSource == .devtype)
        #expect(story.changes[0].path.reasons == [])
    }

    @Test func `a missing probe result delays a state for a second, and is then its reason`() {
        var story = MonitorStory.withModem()
        story.start()
        story.wait(.milliseconds(999))
        #expect(story.changes.isEmpty)
        story.wait(.milliseconds(1))
        #expect(story.statuses == [.wifi])
        #expect(story.changes[0].path.interface?.kind == .other)
        #expect(story.changes[0].path.reasons == [.deviceProbing])
        story.find(.modem(3, "wwan0"))
        #expect(story.statuses == [.wifi, .cellular])
        #expect(story.changes[1].reasons == [.deviceChanged])
    }

    @Test func `an interface meets no requirement on kinds before its device is identified`() {
        var story = MonitorStory.withModem()
        story.start()
        let evaluator = PathEvaluator(context: .init(user: 0))
        for requirement in [PathRequirement.notCellular, .notExpensive, .wifi] {
            let found = evaluator.candidates(for: requirement, in: story.machine.snapshot, at: story.now)
            #expect(found.interfaces.isEmpty, "\(requirement)")
            #expect(found.ruledOut.map(\.interface.name) == ["wwan0"], "\(requirement)")
            #expect(found.ruledOut.map(\.reason) == [.deviceProbing], "\(requirement)")
        }
        for requirement in [PathRequirement.any, .interface("wwan0")] {
            let found = evaluator.candidates(for: requirement, in: story.machine.snapshot, at: story.now)
            #expect(found.interfaces.map(\.name) == ["wwan0"], "\(requirement)")
        }
        story.find(.plain(3, "wwan0"))
        let found = evaluator.candidates(for: .notCellular, in: story.machine.snapshot, at: story.now)
        #expect(found.interfaces.map(\.name) == ["wwan0"])
    }

    @Test func `a change that is held back is not published while a newer path waits for a device probe`() {
        var story = MonitorStory(settle: .seconds(2))
        let route = Entry.defaultRoute(via: "192.0.2.1", on: 2)
        story.changeSilently(
            .link(Entry.link(2, "eth0")),
            .address(Entry.address("192.0.2.2", on: 2)),
            .route(route)
        )
        story.start()
        story.notify(.routeRemoved(route))
        story.wait(.milliseconds(1_900))
        story.notify(
            .link(Entry.modem(3, "wwan0")),
            .address(Entry.address("198.51.100.2", on: 3)),
            .route(Entry.defaultRoute(via: "198.51.100.1", on: 3))
        )
        story.wait(.milliseconds(200))
        #expect(story.statuses == [.wifi])
        story.find(.modem(3, "wwan0"))
        story.wait(.seconds(2))
        #expect(story.statuses == [.wifi, .cellular])
    }

    @Test func `a dormant interface is not reported until it is known whether it is a station`() {
        var story = MonitorStory.withModem()
        var station = Entry.modem(3, "wlan0")
        station.operationalState = .dormant
        station.flags.remove(.running)
        story.changeSilently(.link(station))
        story.start()
        #expect(story.changes.isEmpty)
        var reply = WirelessMessage(.newInterface, index: 3)
        reply.mode = .station
        var end = UeventMessage(action: .add, interface: "wlan0", index: 3, deviceType: "wlan")
        end.probe = .answered
        story.find([.wireless(reply), .uevent(end)])
        #expect(story.statuses == [.notReachable])
        #expect(story.changes.first?.path.reasons.first == .associating)
    }

    @Test func `a dormant interface that is no station waits for 802.1X`() {
        var story = MonitorStory.withModem()
        var port = Entry.modem(3, "wwan0")
        port.operationalState = .dormant
        port.flags.remove(.running)
        story.changeSilently(.link(port))
        story.start()
        story.find(.modem(3, "wwan0"))
        #expect(story.changes.map(\.path.reasons.first) == [.dormant])
    }

    @Test func `a bridge whose uplink is removed is remembered to have had one`() {
        var story = MonitorStory()
        var port = Entry.link(3, "eth0")
        (port.kind, port.masterIndex) = (nil, 9)
        var guest = Entry.link(4, "veth0")
        (guest.kind, guest.masterIndex, guest.lowerIndex, guest.lowerNamespace) = ("veth", 9, 2, 0)
        var bridge = Entry.link(9, "br0")
        bridge.kind = "bridge"
        story.changeSilently(
            .link(port),
            .link(guest),
            .link(bridge),
            .address(Entry.address("192.0.2.2", on: 9)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 9))
        )
        story.start()
        story.find(.modem(3, "eth0"))
        #expect(story.statuses == [.cellular])
        story.notify(.linkRemoved(port))
        #expect(story.statuses.last == .notReachable)
        story.notify(.link(bridge))
        #expect(story.statuses.last == .notReachable)
    }

    @Test func `an unidentified device does not count as cellular, and is a reason`() {
        var story = MonitorStory.withModem()
        story.start()
        var findings = DeviceFindings(index: 3, name: "wwan0")
        findings.driverFault = "Operation not permitted"
        story.find(findings)
        #expect(story.statuses == [.wifi])
        #expect(story.changes[0].path.interface?.kind == .other)
        #expect(story.changes[0].path.reasons == [.deviceUnidentified])
    }

    @Test func `virtual interfaces and those that are down are never probed`() {
        var story = MonitorStory.withUplink()
        var idle = Entry.link(4, "eth1", up: false)
        idle.kind = nil
        story.changeSilently(.link(idle))
        story.start()
        #expect(story.statuses == [.wifi])
        #expect(story.probes == [])
        idle.flags = [.up]
        story.notify(.link(idle))
        #expect(story.probes == [.probe(4, name: "eth1")])
    }

    @Test func `a device's findings are kept until its interface is renamed`() {
        var story = MonitorStory.withModem()
        story.start()
        story.find(.modem(3, "wwan0"))
        story.forgetActions()
        var modem = Entry.modem(3, "wwan0", carrier: false)
        story.notify(.link(modem))
        modem = Entry.modem(3, "wwan0")
        story.notify(.link(modem))
        #expect(story.probes == [])
        #expect(story.statuses == [.cellular, .notReachable, .cellular])
        modem.name = "modem0"
        story.notify(.link(modem))
        #expect(story.probes == [.probe(3, name: "modem0")])
        // The findings under the old name are used until the new ones arrive.
        #expect(story.statuses.last == .cellular)
        #expect(story.changes.last?.path.interface?.name == "modem0")
    }

    @Test func `a result about a removed interface does not apply to a new one with the same index`() {
        var story = MonitorStory.withModem()
        story.start()
        let modem = Entry.modem(3, "wwan0")
        story.notify(.linkRemoved(modem))
        #expect(story.statuses == [.notReachable])
        story.notify(.link(Entry.cable(3, "eth0")), .address(Entry.address("192.0.2.2", on: 3)))
        story.notify(.route(Entry.defaultRoute(via: "192.0.2.1", on: 3)))
        story.find(.modem(3, "wwan0"))
        #expect(story.statuses == [.notReachable])
        story.find(.plain(3, "eth0"))
        #expect(story.statuses == [.notReachable, .wifi])
        #expect(story.changes.last?.path.interface?.kind == .wired)
    }

    @Test func `an interface does not inherit the device of another one whose removal was lost`() {
        var story = MonitorStory.withModem()
        story.start()
        story.find(.modem(3, "wwan0"))
        story.forgetActions()
        story.changeSilently(.linkRemoved(Entry.modem(3, "wwan0")), .link(Entry.cable(3, "eth0")))
        story.overrun()
        #expect(story.probes == [.probe(3, name: "eth0")])
        // The new path waits for the findings about its device.
        #expect(story.statuses == [.cellular, .cellular])
        story.find(.plain(3, "eth0"))
        #expect(story.statuses == [.cellular, .cellular, .wifi])
        #expect(story.changes.last?.path.interface?.kind == .wired)
    }

    @Test func `findings about a new interface with a reused index count if they arrive before the dumps end`() {
        var story = MonitorStory.withModem()
        story.start()
        story.find(.modem(3, "wwan0"))
        story.changeSilently(.linkRemoved(Entry.modem(3, "wwan0")), .link(Entry.cable(3, "eth0")))
        story.holdsDumps = true
        story.overrun()
        story.replyToFirstDump()
        story.find(.plain(3, "eth0"))
        story.replyToDumps()
        #expect(story.statuses == [.cellular, .cellular, .wifi])
        #expect(story.changes.last?.path.interface?.kind == .wired)
    }

    @Test func `after an overrun devices are probed again, and the earlier findings are used meanwhile`() {
        var story = MonitorStory.withModem()
        story.start()
        story.find(.modem(3, "wwan0"))
        story.forgetActions()
        story.overrun()
        story.wait(.seconds(1))
        #expect(story.probes == [.probe(3, name: "wwan0")])
        #expect(story.statuses.allSatisfy { $0 == .cellular })
    }
}

extension MonitorStory {
    /// The device probes requested since the actions were forgotten.
    fileprivate var probes: [MonitorAction] {
        actions.filter { if case .probe = $0 { true } else { false } }
    }

    /// A machine with one modem of USB, as the kernel's messages show it: like Ethernet.
    fileprivate static func withModem() -> Self {
        var story = Self()
        story.changeSilently(
            .link(Entry.modem(3, "wwan0")),
            .address(Entry.address("192.0.2.2", on: 3)),
            .route(Entry.defaultRoute(via: "192.0.2.1", on: 3))
        )
        return story
    }
}

extension Entry {
    fileprivate static func modem(_ index: InterfaceIndex, _ name: String, carrier: Bool = true) -> LinkMessage {
        var message = link(index, name, carrier: carrier)
        message.kind = nil
        return message
    }

    fileprivate static func cable(_ index: InterfaceIndex, _ name: String) -> LinkMessage {
        var message = link(index, name)
        message.kind = nil
        return message
    }
}

extension DeviceFindings {
    fileprivate static func plain(_ index: InterfaceIndex, _ name: String) -> Self {
        var findings = Self(index: index, name: name)
        findings.isInSysfs = true
        findings.driver = "e1000e"
        return findings
    }

    fileprivate static func modem(_ index: InterfaceIndex, _ name: String) -> Self {
        var findings = Self(index: index, name: name)
        findings.isInSysfs = true
        findings.driver = "cdc_ether"
        findings.deviceType = "wwan"
        return findings
    }
}
