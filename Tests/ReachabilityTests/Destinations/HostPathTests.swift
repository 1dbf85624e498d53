import LinuxSystem
import Testing

@testable import Reachability

/// The times at which a name is resolved, in seconds.
@Suite struct ResolutionScheduleTests {
    private func at(_ second: Int64) -> Instant { .init(nanoseconds: second * 1_000_000_000) }

    @Test func `a name is resolved immediately, then every five minutes`() {
        var schedule = ResolutionSchedule(at: at(100))
        #expect(schedule.isDue(at: at(100)))
        schedule.begin(at: at(100))
        #expect(!schedule.isDue(at: at(105)))
        #expect(schedule.next == nil)
        schedule.end(hasSucceeded: true, at: at(101))
        #expect(!schedule.isDue(at: at(400)))
        #expect(schedule.next == at(401))
        #expect(schedule.isDue(at: at(401)))
    }

    @Test func `a failed resolution is retried at growing intervals`() {
        var schedule = ResolutionSchedule(at: at(100))
        var now: Int64 = 100
        var intervals: [Int64] = []
        for _ in 0..<7 {
            schedule.begin(at: at(now))
            schedule.end(hasSucceeded: false, at: at(now))
            let due = (schedule.next?.nanoseconds ?? 0) / 1_000_000_000
            intervals.append(due - now)
            now = due
        }
        #expect(intervals == [1, 2, 4, 8, 16, 30, 30])
        schedule.begin(at: at(now))
        schedule.end(hasSucceeded: false, at: at(now + 5))
        schedule.noteNetworkChange(at: at(now + 6))
        #expect(schedule.isDue(at: at(now + 6)))
    }

    @Test func `a change of the network during an attempt leads to another attempt`() {
        var schedule = ResolutionSchedule(at: at(100))
        schedule.begin(at: at(100))
        schedule.noteNetworkChange(at: at(101))
        #expect(!schedule.isDue(at: at(200)))
        schedule.end(hasSucceeded: true, at: at(102))
        #expect(schedule.isDue(at: at(102)))
    }

    @Test func `many changes of the network lead to at most one attempt per second`() {
        var schedule = ResolutionSchedule(at: at(100))
        schedule.begin(at: at(100))
        schedule.end(hasSucceeded: true, at: at(100))
        schedule.noteNetworkChange(at: at(100))
        #expect(!schedule.isDue(at: at(100)))
        #expect(schedule.next == at(101))
    }
}

/// The addresses of a host, and the paths to them.
@Suite struct HostAddressesTests {
    private let first = IPAddress(ipv4: 0xC000_0201)
    private let second = IPAddress(ipv4: 0xC000_0202)
    private let error = ReachabilityError(.nameServerUnavailable, "robot.example")

    @Test func `a value is reported once the paths to all addresses are known, and when it changes`() {
        var host = HostAddresses(host: "robot.example")
        #expect(host.takeChange() == nil)
        let (gone, new) = host.resolve(to: [first, second])
        #expect(gone.isEmpty)
        #expect(new == [first, second])
        host.update(.test(second, .notReachable))
        #expect(host.takeChange() == nil)
        host.update(.test(first, .wifi))
        let paths = [DestinationPath.test(first, .wifi), .test(second, .notReachable)]
        #expect(host.takeChange() == HostPath(host: "robot.example", paths: paths))
        #expect(host.takeChange() == nil)
        host.update(.test(first, .notReachable))
        #expect(host.takeChange()?.isReachable == false)
    }

    @Test func `addresses keep their order, and removed addresses lose their paths`() {
        var host = HostAddresses(host: "robot.example")
        _ = host.resolve(to: [first])
        host.update(.test(first, .wifi))
        let (gone, new) = host.resolve(to: [second, first])
        #expect(gone.isEmpty)
        #expect(new == [second])
        host.update(.test(second, .cellular))
        #expect(host.takeChange()?.paths.map(\.destination) == [first, second])
        #expect(host.resolve(to: [second]).gone == [first])
        host.update(.test(first, .cellular))
        #expect(host.takeChange()?.paths.map(\.destination) == [second])
    }

    @Test func `a failure is reported, and the known addresses stay`() {
        var host = HostAddresses(host: "robot.example")
        host.fail(error)
        #expect(host.takeChange() == HostPath(host: "robot.example", paths: [], resolutionError: error))
        _ = host.resolve(to: [first])
        host.update(.test(first, .wifi))
        #expect(host.takeChange()?.resolutionError == nil)
        host.fail(error)
        let failed = host.takeChange()
        #expect(failed?.resolutionError == error)
        #expect(failed?.isReachable == true)
    }

    @Test func `the best path is the first that is reachable, else the first`() {
        let refused = DestinationPath.test(first, .notReachable)
        let reached = DestinationPath.test(second, .wifi)
        #expect(HostPath(host: "x", paths: [refused, reached]).best == reached)
        #expect(HostPath(host: "x", paths: [refused]).best == refused)
        #expect(HostPath(host: "x", paths: []).best == nil)
    }
}
