import NetworkLab
import Testing

@testable import Reachability

/// Each test has a separate process, so that threads and descriptors of other tests are not counted.
@Suite("Leaks of monitors", .timeLimit(.minutes(10)))
struct MonitorLeakTests {
    @Test("A thousand monitors, made and released with their subscribers, leave nothing behind")
    func monitors() async {
        await #expect(processExitsWith: .success) {
            let uplink = try TestUplink()
            // Objects that the process makes once are made before counting.
            try await useMonitor(of: uplink)
            await ThreadFacts.wait { !$0.contains("reachability") && !$0.contains("netwatch-helper") }
            await ThreadFacts.startClocks()
            let descriptors = ThreadFacts.descriptorCount
            let memory = LabHeap.bytesInUse

            for _ in 0..<1000 { try await useMonitor(of: uplink) }
            await ThreadFacts.wait { !$0.contains("reachability") && !$0.contains("netwatch-helper") }
            await ThreadFacts.waitForDescriptors(descriptors)
            // A leaked monitor would cost more than its 8 KiB of receive buffers and tables.
            #expect(LabHeap.bytesInUse - memory < 4 << 20)
        }
    }

    @Test("A thousand starts and stops of one monitor leave nothing behind")
    func restarts() async {
        await #expect(processExitsWith: .success) {
            let uplink = try TestUplink()
            let monitor = try uplink.startMonitor()
            try await monitor.wait(for: .wifi, timeout: .seconds(120))
            // The open descriptors of a running monitor change all the time; a stopped one has none.
            monitor.stop()
            await ThreadFacts.wait { !$0.contains("reachability") }
            await ThreadFacts.startClocks()
            let descriptors = ThreadFacts.descriptorCount
            for _ in 0..<1000 {
                try uplink.lab.run { try monitor.start() }
                monitor.stop()
            }
            await ThreadFacts.wait { !$0.contains("reachability") }
            await ThreadFacts.waitForDescriptors(descriptors)
        }
    }
}

/// Makes a monitor with subscribers of several kinds, uses it, and releases all.
private func useMonitor(of uplink: TestUplink) async throws {
    weak var released: ReachabilityMonitor?
    do {
        let monitor = try uplink.startMonitor()
        released = monitor
        let heard = Collector<ReachabilityStatus>()
        let subscriptions = [
            monitor.subscribe { heard.append($0.status) },
            monitor.subscribe(on: .immediate) { heard.append($0.status) },
            monitor.subscribe(to: IPAddress(ipv4: 0xCB00_7107)) { heard.append($0.status) },
        ]
        try await monitor.wait(for: .reachable, timeout: .seconds(120))
        try await heard.wait(count: 3)
        withExtendedLifetime(subscriptions) {}
    }
    #expect(released == nil)
}
