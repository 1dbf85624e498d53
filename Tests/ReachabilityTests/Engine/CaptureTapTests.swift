import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The messages that the capture tap receives.
@Suite struct CaptureTapTests {
    @Test func `a recording begins with the dumps and replays to the same states`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let records = LabInbox<CaptureEvent>()
        var configuration = MonitorConfiguration()
        configuration.tap = { records.put($0) }
        let probe = try EngineProbe(in: lab, configuration)
        #expect(try probe.engine.view().isSettled)
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        try probe.wait(for: .wifi)
        try lab.rtnl.setDown("wan0")
        try probe.wait(for: .notReachable)
        #expect(try probe.engine.view().isSettled)
        let live = probe.changes.all
        probe.engine.stop()

        #expect(records.all.first?.direction == .toKernel)
        #expect(records.all.map(\.time) == records.all.map(\.time).sorted())
        let replayed = Self.replay(records.all)
        #expect(replayed.map(\.status) == live.map(\.status))
        #expect(replayed.map(\.path) == live.map(\.path))
    }

    @Test func `a recording has one request of generic netlink, and only the families that are decoded`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let records = LabInbox<CaptureEvent>()
        var configuration = MonitorConfiguration()
        configuration.tap = { records.put($0) }
        let probe = try EngineProbe(in: lab, configuration)
        #expect(try probe.engine.view().isSettled)
        probe.engine.stop()

        let generic = records.all.filter { $0.protocolNumber == NetlinkDecoder.generic }
        #expect(generic.first?.direction == .toKernel)
        #expect(generic.count { $0.direction == .toKernel } == 1)
        for record in generic {
            var events: [KernelEvent] = []
            try NetlinkDecoder(protocolNumber: NetlinkDecoder.generic).decode(record.bytes.span.bytes) {
                events.append($1)
            }
            for event in events {
                if case .family(let family) = event { #expect(GenericFamilies.reads(family)) }
            }
            #expect(!events.isEmpty && record.bytes.count < 1_000)
        }
    }

    private static func replay(_ records: [CaptureEvent]) -> [ReachabilityChange] {
        var machine = MonitorStateMachine(context: .init(user: 0), isReplay: true)
        var changes: [ReachabilityChange] = []
        var now = Instant(nanoseconds: 0)
        for record in records {
            now = Instant(nanoseconds: Int64(record.time))
            let decoder = NetlinkDecoder(protocolNumber: record.protocolNumber)
            try? decoder.decode(record.bytes.span.bytes) { machine.replay($1, $0, at: now) }
            changes += take(&machine, at: now)
        }
        machine.finishReplay(at: now.advanced(by: .seconds(1)))
        return changes + take(&machine, at: now.advanced(by: .seconds(1)))
    }

    private static func take(_ machine: inout MonitorStateMachine, at now: Instant) -> [ReachabilityChange] {
        var changes: [ReachabilityChange] = []
        while case .publish(let change) = machine.next(at: now) { changes.append(change) }
        return changes
    }
}
