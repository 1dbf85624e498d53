import Glibc
import ReachabilityCore
import Testing

@testable import Reachability

@Suite("wifiDetails(timeout:)", .timeLimit(.minutes(10)))
struct WiFiDetailsTests {
    private static let wlan = NetworkInterface(index: 3, name: "wlan0", kind: .wifi, kindSource: .nl80211)
    private static let timeout = Duration.seconds(50)

    @Test("Returns the radios' details")
    func replies() async throws {
        let (monitor, source) = try makeFakeMonitor()
        var details = WiFiDetails(interface: Self.wlan)
        details.ssidBytes = Array("home".utf8)
        var other = details
        other.interface.index = 4
        source.setWiFiDetails([details, other])
        #expect(try await monitor.wifiDetails(timeout: Self.timeout) == [details, other])
    }

    @Test("Throws at the timeout if the radios do not reply")
    func silence() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let error = await #expect(throws: ReachabilityError.self) {
            _ = try await monitor.wifiDetails(timeout: .milliseconds(1))
        }
        #expect(error?.code == .netlinkFailed)
        #expect(error?.errno == ETIMEDOUT)
        withExtendedLifetime(source) {}
    }

    @Test("Throws when the monitor is stopped")
    func stopped() async throws {
        let (monitor, source) = try makeFakeMonitor(started: false)
        let error = await #expect(throws: ReachabilityError.self) { _ = try await monitor.wifiDetails() }
        #expect(error?.code == .notRunning)
        withExtendedLifetime(source) {}
    }

    @Test("Throws when the task is cancelled")
    func cancellation() async throws {
        let (monitor, source) = try makeFakeMonitor()
        let task = Task { try await monitor.wifiDetails(timeout: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: ReachabilityError.cancelled) { _ = try await task.value }
        withExtendedLifetime(source) {}
    }

    @Test("A path without Wi-Fi has no details, and a stopped engine throws")
    func kernel() async throws {
        let uplink = try TestUplink()
        let monitor = try uplink.startMonitor()
        _ = try await monitor.wait(for: .reachable, timeout: .seconds(120))
        #expect(try await monitor.wifiDetails(timeout: Self.timeout).isEmpty)
        monitor.stop()
        await #expect(throws: ReachabilityError.self) { _ = try await monitor.wifiDetails() }
    }
}
