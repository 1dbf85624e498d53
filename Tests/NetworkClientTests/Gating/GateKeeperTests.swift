import HTTPLab
import NIOCore
import NetworkLab
import ReachabilityCore
import RequestGate
import Testing

@testable import NetworkClient

/// The keeper with a simulated network: lookups, cached verdicts and notifications.
@Suite(.timeLimit(.minutes(5))) struct GateKeeperTests {
    private let connectivity = MadeUpConnectivity(.init(ways: [nil: [MadeUpConnectivity.wlan]]))
    private let lookup = ScriptedLookup()
    private static let near = IPAddress(ipv4: 0xC000_0201)  // 192.0.2.1
    private static let nearNext = IPAddress(ipv4: 0xC000_0202)

    private func goOffline() {
        connectivity.change { network in
            network.status = .notReachable
            network.reasons = [.noRoute]
            network.ways = [:]
        }
    }

    @Test func `online, a request without a requirement costs nothing`() async throws {
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            #expect(await gate.on { $0.isQuick })
            #expect(await gate.verdict(.init("example.com")) == .free)
            #expect(await gate.verdict(.init("203.0.113.7")) == .free)
        }
        #expect(connectivity.questions == 0)
        #expect(connectivity.watchCount == 0)
        #expect(lookup.begun.value.isEmpty)
    }

    @Test func `offline, a request waits until there is a path, without lookups of names`() async throws {
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            goOffline()
            let key = GateKey("203.0.113.7")
            let wait = await gate.hold(key).missing
            #expect(wait?.obstacle == .path)
            #expect(wait.map { "\($0)" } == "a path to 203.0.113.7 (path.noRoute)")
            connectivity.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
            try await gate.wait(key, for: "the opening") { $0 == .free }
            #expect(gate.told.value.count == 1)
        }
        #expect(connectivity.watchCount == 0)
    }

    @Test func `offline, requests to hosts on the link, behind a VPN, or on this machine start`() async throws {
        connectivity.change { network in
            network = .init(status: .notReachable, ways: [Self.near: [MadeUpConnectivity.wlan]], own: [Self.nearNext])
        }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            #expect(await gate.verdict(.init("192.0.2.1")).addresses == ["192.0.2.1:80"])
            #expect(await gate.verdict(.init("192.0.2.2")).mayGo)
            #expect(await gate.verdict(.init("127.0.0.1")).mayGo)
            #expect(await gate.verdict(.init("::1")).mayGo)
            #expect(await gate.verdict(.init("::ffff:192.0.2.1")).mayGo)
            #expect(await gate.verdict(.init("192.0.2.3")).missing?.obstacle == .path)
            let unix = GateKey(host: "", port: 0, socketPath: "/run/x", requirement: .wifi)
            #expect(await gate.verdict(unix) == .free)
        }
    }

    @Test func `a request before the change is reported is evaluated with the current path`() async throws {
        connectivity.change { network in
            network = .init(status: .notReachable, reasons: [.noCarrier], ways: [Self.near: [MadeUpConnectivity.wlan]])
        }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            #expect(await gate.verdict(.init("192.0.2.1")).mayGo)
            connectivity.changeSilently { $0 = .init(status: .notReachable, reasons: [.noRoute]) }
            #expect(await gate.verdict(.init("192.0.2.1")).missing?.obstacle == .path)
        }
    }

    @Test func `offline, a name is looked up once, and only reachable addresses are used`() async throws {
        connectivity.change { network in
            network = .init(status: .notReachable, ways: [Self.near: [MadeUpConnectivity.wlan]])
        }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("printer.local")
            #expect(await gate.hold(key).missing?.obstacle == .name)
            try await gate.wait(key, for: "the addresses") { $0.addresses == ["192.0.2.1:80"] }
            for port in [443, 8080] {
                var other = key
                other.port = port
                let text = "192.0.2.1:\(port)"
                #expect(await gate.verdict(other).addresses == [text])
            }
            connectivity.change { $0.ways[Self.nearNext] = [MadeUpConnectivity.wlan] }
            try await gate.wait(key, for: "one more") { $0.addresses?.count == 2 }
        }
        #expect(lookup.begun.value == ["printer.local"])
    }

    @Test func `a change of the default path causes another lookup of a name`() async throws {
        goOffline()
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("printer.local")
            await gate.hold(key)
            try await gate.wait(key, for: "no way") { $0.missing?.obstacle == .path }
            connectivity.change { $0.reasons = [.noCarrier] }
            try await lookup.begun.wait(for: "the second lookup") { $0.count == 2 }
        }
    }

    @Test func `a missing name waits while the default path is unusable, and fails afterwards`()
        async throws
    {
        goOffline()
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("missing.example")
            await gate.hold(key)
            try await gate.wait(key, for: "no path") { $0.missing?.obstacle == .path }
            connectivity.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
            try await gate.wait(key, for: "the opening") { $0 == .free }
        }
    }

    @Test func `with a requirement the connection is bound, and no name is looked up without a path`() async throws {
        connectivity.change { $0 = .init(status: .cellular, ways: [nil: [MadeUpConnectivity.wwan]]) }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("example.com", .notCellular)
            let wait = await gate.hold(key).missing
            #expect(
                wait.map { "\($0)" }
                    == "a path to example.com that is not cellular (wwan0: path.notAllowed)"
            )
            #expect(lookup.begun.value.isEmpty)
            #expect(await gate.verdict(.init("203.0.113.7", .wifi)).missing?.obstacle == .path)
            #expect(await gate.verdict(.init("203.0.113.7", .interface("wwan0"))).binding == .interfaceIndex(11))
            connectivity.change { $0.ways = [nil: [MadeUpConnectivity.wwan, MadeUpConnectivity.wlan]] }
            try await gate.wait(key, for: "WiFi") { $0.binding == .interfaceIndex(10) && $0.addresses?.count == 3 }
            #expect(await gate.verdict(.init("203.0.113.7", .wifi)).binding == .interfaceIndex(10))
            #expect(await gate.verdict(.init("localhost", .wifi)).missing?.obstacle == .name)
            #expect(await gate.verdict(.init("127.0.0.1", .wifi)).binding == LocalBinding.unbound)
        }
    }

    @Test func `a missing name with a requirement is tried bound`() async throws {
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("missing.example", .wifi)
            await gate.hold(key)
            try await gate.wait(key, for: "the opening") { $0.binding == .interfaceIndex(10) && $0.addresses == nil }
        }
    }

    @Test func `while the state is unknown, only requests with a requirement wait`() async throws {
        connectivity.change { $0.status = .unknown }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            #expect(await gate.verdict(.init("example.com")) == .free)
            let key = GateKey("203.0.113.7", .wifi)
            #expect(await gate.hold(key).missing?.obstacle == .firstState)
            #expect(connectivity.questions == 0)
            connectivity.change { $0.status = .wifi }
            try await gate.wait(key, for: "the first state") { $0.binding == .interfaceIndex(10) }
        }
    }

    @Test func `if lookups fail, only requests with a requirement wait`() async throws {
        connectivity.change { $0.isBroken = true }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            #expect(await gate.on { $0.refresh(.init("203.0.113.7")) } == .free)
            #expect(await gate.verdict(.init("203.0.113.7", .wifi)).missing?.reasons == [.netlinkFailed])
        }
    }

    @Test func `after a failed lookup, a request with a requirement looks again without a change`() async throws {
        connectivity.change { $0.isBroken = true }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("203.0.113.7", .wifi)
            #expect(await gate.hold(key).missing?.reasons == [.netlinkFailed])
            connectivity.changeSilently { $0.isBroken = false }
            try await gate.wait(key, for: "a lookup") { $0.binding == .interfaceIndex(10) }
        }
    }

    @Test func `after a failed lookup, nothing is looked up again but what failed`() async throws {
        goOffline()
        connectivity.change { $0.broken = [Self.near] }
        let lookups = LabInbox<String>()
        let resolver = NameResolver { name in
            lookups.put(name)
            return .failure(code: -2, errno: 0)
        }
        try await KeptGate.run(connectivity, resolver) { gate in
            let name = GateKey("missing.example")
            await gate.hold(name)
            try await gate.wait(name, for: "the failure") { $0.missing?.obstacle == .path }
            let key = GateKey("192.0.2.1", .wifi)
            #expect(await gate.hold(key).missing?.isForLookup == true)
            let before = connectivity.questions
            try await Self.wait { connectivity.questions >= before + 2 }
            #expect(lookups.all.count == 1)
        }
    }

    @Test func `after a failed lookup, a review makes no others`() async throws {
        connectivity.change { $0.isBroken = true }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let keys = (1...50).map { GateKey("192.0.2.\($0)", .wifi) }
            let asked = await gate.on { [connectivity] keeper in
                for key in keys {
                    _ = keeper.verdict(for: key)
                    keeper.hold(key)
                }
                return connectivity.questions
            }
            #expect(asked == 50)
            try await Self.wait { connectivity.questions > 50 }
            await gate.on { _ in }
            #expect(connectivity.questions < 75)
        }
    }

    @Test func `while the monitor can't read the network, a request waits for a change`() async throws {
        connectivity.change { network in
            network.status = .unknown
            network.reasons = [.netlinkFailed]
        }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let wait = await gate.hold(.init("203.0.113.7", .wifi)).missing
            #expect(wait?.reasons == [.netlinkFailed])
            #expect(wait?.isForLookup == false)
        }
    }

    /// Waits for what nothing announces.
    private static func wait(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(10)) }
    }

    @Test func `while a path may not be read yet, requests that need it wait`() async throws {
        connectivity.change { $0.isReading = true }
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("203.0.113.7", .wifi)
            #expect(await gate.hold(key).missing?.obstacle == .firstState)
            let failed = await gate.on { $0.refresh(.init("203.0.113.7")) }
            #expect(failed.missing?.obstacle == .firstState)
            #expect(failed.missing?.reasons == [.reading])
            connectivity.change { $0.isReading = false }
            try await gate.wait(key, for: "the path") { $0.binding == .interfaceIndex(10) }
            #expect(await gate.verdict(.init("203.0.113.7")) != failed)
        }
    }

    @Test func `a fresh lookup decides whether there is a path, and ends the revalidation`() async throws {
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("203.0.113.7")
            #expect(await gate.on { $0.refresh(key) }.addresses == ["203.0.113.7:80"])
            #expect(await gate.verdict(key) == .free)
            connectivity.changeSilently { $0.ways[IPAddress(ipv4: 0xCB00_7107)] = [] }
            #expect(await gate.verdict(key) == .free)
            #expect(await gate.on { $0.refresh(key) }.missing?.obstacle == .path)
            #expect(await gate.hold(key).mayGo == false)
            connectivity.change { $0.ways[IPAddress(ipv4: 0xCB00_7107)] = [MadeUpConnectivity.wlan] }
            try await gate.wait(key, for: "the opening") { $0.mayGo }
            #expect(await gate.verdict(key) == .free)
        }
    }

    @Test func `verdicts are cached between changes; after one, only waiting keys are evaluated`() async throws {
        goOffline()
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let keys = (1...50).map { GateKey("203.0.113.\($0)") }
            for key in keys { _ = await gate.verdict(key) }
            for key in keys { _ = await gate.verdict(key) }
            #expect(connectivity.questions == 50)
            #expect(connectivity.watchCount == 1)
            await gate.hold(keys[0])
            await gate.hold(keys[0])
            connectivity.change { $0.reasons = [.interfaceDown] }
            await gate.on { _ in }
            #expect(connectivity.questions == 51)
            #expect(connectivity.watched.contains(IPAddress(ipv4: 0xCB00_7101)))
            await gate.on { $0.letGo(keys[0]) }
            connectivity.change { $0.reasons = [.noRoute] }
            await gate.on { _ in }
            #expect(connectivity.questions == 52)
            #expect(connectivity.watchCount == 1)
            await gate.on { $0.letGo(keys[0]) }
            connectivity.change { $0.reasons = [.interfaceDown] }
            await gate.on { _ in }
            #expect(connectivity.watchCount == 0)
        }
    }

    @Test func `a failed lookup is retried after a while, without any change`() async throws {
        goOffline()
        let (lookups, seen) = (LabInbox<Int>(), LabInbox<Int>())
        let resolver = NameResolver { _ in
            lookups.put(1)
            guard lookups.all.count > 1 else { return .failure(code: -3, errno: 0) }
            // The failure must be visible before the retry.
            _ = try? seen.wait(for: "the failure to be seen", within: .seconds(120)) { !$0.isEmpty }
            return .addresses((try? [.init(ipAddress: "127.0.0.1", port: 0)]) ?? [])
        }
        try await KeptGate.run(connectivity, resolver) { gate in
            let key = GateKey("printer.local")
            await gate.hold(key)
            // The retry may have begun meanwhile, so the last word may be another.
            try await gate.told.wait(for: "the failure") { words in
                words.contains { $0.key == key && $0.verdict.missing?.obstacle == .nameServer }
            }
            seen.put(1)
            try await gate.wait(key, for: "the addresses") { $0.addresses == ["127.0.0.1:80"] }
        }
    }

    @Test func `a stalled lookup is cancelled when the network changes`() async throws {
        goOffline()
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("stalled.example", .any)
            #expect(await gate.hold(key).missing?.obstacle == .name)
            try await lookup.begun.wait(for: "the first") { $0.count == 1 }
            connectivity.change { $0.reasons = [.noCarrier] }
            try await lookup.begun.wait(for: "the second") { $0.count == 2 }
            lookup.release()
            try await gate.wait(key, for: "no way") { $0.missing?.obstacle == .path }
        }
    }

    @Test func `a released key is not notified`() async throws {
        goOffline()
        try await KeptGate.run(connectivity, lookup.resolver()) { gate in
            let key = GateKey("203.0.113.7")
            await gate.hold(key)
            await gate.on { $0.letGo(key) }
            connectivity.change { $0 = .init(ways: [nil: [MadeUpConnectivity.wlan]]) }
            await gate.on { _ in }
            #expect(gate.told.value.isEmpty)
        }
    }
}
