import NetworkLab
import Testing

@testable import Reachability

@Suite("wait(for:timeout:)", .timeLimit(.minutes(10)))
struct WaitTests {
    @Test("Returns immediately if the condition already holds, even with a timeout of zero")
    func already() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.cellular)
        #expect(try await monitor.wait(for: .reachable).sequence == 1)
        #expect(try await monitor.wait(for: .cellular, timeout: .zero).sequence == 1)
    }

    @Test(
        "Returns with the change that brings what is wanted",
        arguments: [nil, .seconds(120), .seconds(Int64.max), .nanoseconds(Int64.max)] as [Duration?]
    )
    func later(_ timeout: Duration?) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.notReachable)
        async let met = monitor.wait(for: .wifi, timeout: timeout)
        try await monitor.waitForSubscriber()
        source.publish(.cellular, .unknown, .wifi, .notReachable)
        #expect(try await met.sequence == 4)
    }

    @Test("Throws at the timeout, with the condition and the current state", arguments: [-1, 0, 1])
    func timeout(_ milliseconds: Int) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.notReachable)
        let error = await #expect(throws: ReachabilityError.self) {
            try await monitor.wait(for: .reachable, timeout: .milliseconds(milliseconds))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.subject == "reachable")
        #expect(error?.path?.status == .notReachable)
        #expect(error?.description.hasPrefix("not reachable within") == true)
        #expect(error?.description.hasSuffix("the state is notReachable") == true)
        #expect(monitor.subscriberCount == 0)
    }

    @Test("Throws when its task is cancelled", arguments: [nil, .seconds(120)] as [Duration?])
    func cancellation(_ timeout: Duration?) async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.notReachable)
        let task = Task { try await monitor.wait(for: .reachable, timeout: timeout) }
        try await monitor.waitForSubscriber()
        task.cancel()
        await #expect(throws: ReachabilityError.cancelled) { try await task.value }
        #expect(monitor.subscriberCount == 0)

        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await monitor.wait(for: .notReachable, timeout: timeout)
        }
        await #expect(throws: ReachabilityError.cancelled) { try await cancelled.value }
    }

    @Test("A hundred tasks can wait concurrently")
    func many() async throws {
        let (monitor, source) = try makeFakeMonitor()
        source.publish(.notReachable)
        try await withThrowingTaskGroup(of: ReachabilityChange.self) { group in
            for _ in 0..<100 { group.addTask { try await monitor.wait(for: .reachable, timeout: .seconds(120)) } }
            group.addTask {
                source.publish(.wifi)
                return .test(.wifi)
            }
            for try await change in group { #expect(change.status == .wifi) }
        }
        #expect(monitor.subscriberCount == 0)
    }

    @Test("Conditions hold for their states only, and have names")
    func conditions() {
        let met = { (condition: WaitCondition) in
            ReachabilityStatus.allCases.filter { condition.isMet(by: .init(status: $0)) }
        }
        #expect(met(.reachable) == [.cellular, .wifi])
        #expect(met(.wifi) == [.wifi])
        #expect(met(.cellular) == [.cellular])
        #expect(met(.notReachable) == [.notReachable])
        #expect(met(.status(.unknown)) == [.unknown])
        #expect(WaitCondition.reachable.description == "reachable")
        #expect(WaitCondition.path(.notCellular).description == "reachable, notCellular")
        #expect(WaitCondition.status(.wifi).description == "wifi")
    }
}

extension ReachabilityMonitor {
    /// Waits until there is a subscriber.
    func waitForSubscriber() async throws {
        let deadline = ContinuousClock.now + .seconds(120)
        while subscriberCount == 0, ContinuousClock.now < deadline { await Polling.pause() }
        #expect(subscriberCount > 0)
    }
}
