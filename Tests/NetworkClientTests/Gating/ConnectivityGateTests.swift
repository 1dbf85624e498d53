import HTTPLab
import NIOCore
import NetworkLab
import Reachability
import ReachabilityCore
import Testing

@testable import NetworkClient

/// A network whose path is restored as soon as its loss was reported.
private final class TurningConnectivity: Connectivity {
    private let network: MadeUpConnectivity

    init(_ network: MadeUpConnectivity) { self.network = network }

    var status: ReachabilityStatus { network.status }
    var path: NetworkPath { network.path }

    func path(to destination: IPAddress, requiring requirement: PathRequirement) throws -> DestinationPath {
        let path = try network.path(to: destination, requiring: requirement)
        network.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
        return path
    }

    func watch(_ destinations: [IPAddress], _ body: @escaping @Sendable () -> Void) -> any ConnectivityWatch {
        network.watch(destinations, body)
    }
}

/// The gate for other clients.
@Suite(.timeLimit(.minutes(5))) struct ConnectivityGateTests {
    private let connectivity = MadeUpConnectivity(.init(ways: [nil: [MadeUpConnectivity.wlan]]))
    private let lookup = ScriptedLookup()

    private func gate(
        _ loops: LabLoops,
        _ requirement: PathRequirement = .any,
        timeout: Duration? = nil
    ) -> ConnectivityGate {
        .init(connectivity, requirement, timeout, lookup.resolver(), loops.loop)
    }

    private func goOffline() {
        connectivity.change { network in
            network.status = .notReachable
            network.reasons = [.noRoute]
            network.ways = [:]
        }
    }

    @Test func `online, all requests pass, with the interface to bind to`() async throws {
        try await LabLoops.run { loops in
            #expect(try await gate(loops).pass(to: "https://example.com/") == .init())
            let pass = try await gate(loops, .wifi).pass(to: "http://203.0.113.7/")
            #expect(pass == .init(interface: 10, addresses: [IPAddress(ipv4: 0xCB00_7107)]))
            let named = try await gate(loops, .wifi).pass(to: "http://example.com:8080/")
            #expect(named.interface == 10)
            #expect(named.addresses?.count == 3)
        }
    }

    @Test func `offline, requests wait, and all pass when there is a path`() async throws {
        goOffline()
        try await LabLoops.run { loops in
            let gate = gate(loops)
            try await withThrowingTaskGroup(of: GatePass.self) { group in
                for _ in 0..<20 { group.addTask { try await gate.pass(to: "http://203.0.113.7/") } }
                for _ in 0..<20 { group.addTask { try await gate.pass(to: "https://203.0.113.8:8443/") } }
                while connectivity.watchCount == 0 || connectivity.questions < 2 {
                    try await Task.sleep(for: .milliseconds(1))
                }
                connectivity.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
                var count = 0
                for try await pass in group {
                    #expect(pass.interface == nil)
                    count += 1
                }
                #expect(count == 40)
            }
        }
    }

    @Test func `a path that appears during the evaluation opens the gate`() async throws {
        goOffline()
        let turning = TurningConnectivity(connectivity)
        try await LabLoops.run { loops in
            let gate = ConnectivityGate(turning, .any, nil, lookup.resolver(), loops.loop)
            let pass = try await gate.pass(to: "http://203.0.113.7/")
            #expect(pass.interface == nil)
        }
    }

    @Test func `a path that one request finds again opens the gate for those that wait`() async throws {
        goOffline()
        try await LabLoops.run { loops in
            let gate = gate(loops, .wifi)
            let waiting = Task { try await gate.pass(to: "http://203.0.113.7/") }
            while connectivity.watchCount == 0 || connectivity.questions < 1 {
                try await Task.sleep(for: .milliseconds(1))
            }
            // The notification is still under way, and finds what the second request has found already.
            connectivity.changeSilently { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
            let again = try await gate.pass(to: "http://203.0.113.7/", afterFailure: true)
            connectivity.change { _ in }
            let pass = try await waiting.value
            #expect(again.interface == 10 && pass == again)
        }
    }

    @Test func `a timeout says what was waited for, for how long, and why there is no path`() async throws {
        connectivity.change { $0 = .init(status: .cellular, ways: [nil: [MadeUpConnectivity.wwan]]) }
        try await LabLoops.run { loops in
            let gate = gate(loops, .notCellular, timeout: .milliseconds(10))
            let error = await #expect(throws: HTTPError.self) { try await gate.pass(to: "http://203.0.113.7/") }
            #expect(error?.code == .connectivityTimedOut)
            #expect(error?.processing == .neverSent)
            #expect(
                error?.reason == """
                    waited 0.01 seconds for a path to 203.0.113.7 that is not cellular (wwan0: path.notAllowed), in vain
                    """
            )
        }
    }

    @Test func `a cancelled task stops waiting, even if it was cancelled before`() async throws {
        goOffline()
        try await LabLoops.run { loops in
            let gate = gate(loops)
            let waiting = Task { try await gate.pass(to: "http://203.0.113.7/") }
            while connectivity.watchCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            waiting.cancel()
            let error = await #expect(throws: HTTPError.self) { try await waiting.value }
            #expect(error?.code == .cancelled)
            let late = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await gate.pass(to: "http://203.0.113.7/")
            }
            let other = await #expect(throws: HTTPError.self) { try await late.value }
            #expect(other?.code == .cancelled)
        }
    }

    @Test func `after a failure the path is looked up, although the machine is online`() async throws {
        try await LabLoops.run { loops in
            let gate = gate(loops, timeout: .zero)
            let pass = try await gate.pass(to: "http://203.0.113.7/", afterFailure: true)
            #expect(pass.addresses == [IPAddress(ipv4: 0xCB00_7107)])
            connectivity.change { $0.ways = [:] }
            let error = await #expect(throws: HTTPError.self) {
                try await gate.pass(to: "http://203.0.113.7/", afterFailure: true)
            }
            #expect(error?.code == .connectivityTimedOut)
        }
    }

    @Test func `an invalid URL does not wait`() async throws {
        goOffline()
        try await LabLoops.run { loops in
            let error = await #expect(throws: HTTPError.self) { try await gate(loops).pass(to: "example.com") }
            #expect(error?.code == .invalidURL)
        }
    }

    @Test func `a gate that is released leaves no watch`() async throws {
        goOffline()
        try await LabLoops.run { loops in
            do {
                let gate = gate(loops, timeout: .zero)
                _ = try? await gate.pass(to: "http://203.0.113.7/")
                // A watch that replaces another one begins before that ends.
                try await loops.loop.submit {}.get()
                #expect(connectivity.watchCount == 1)
            }
            try await loops.loop.submit {}.get()
            try await loops.loop.submit {}.get()
            #expect(connectivity.watchCount == 0)
        }
    }
}
