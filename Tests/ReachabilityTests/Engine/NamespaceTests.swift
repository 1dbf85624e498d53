import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Monitoring another network namespace.
@Suite struct NamespaceTests {
    @Test func `a namespace is named by a process, a path or a name`() {
        #expect(NetworkNamespace("1234") == .process(1_234))
        #expect(NetworkNamespace("/proc/1/ns/net") == .path("/proc/1/ns/net"))
        #expect(NetworkNamespace("./blue") == .path("./blue"))
        #expect(NetworkNamespace("blue") == .name("blue"))
        #expect(NetworkNamespace("0") == .name("0"))
        #expect(NetworkNamespace("-5") == .name("-5"))
        for nonsense in ["", ".", "..", "a\0b"] { #expect(NetworkNamespace(nonsense) == nil) }
    }

    @Test func `only the event thread enters a namespace`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let changes = LabInbox<ReachabilityChange>()
        let engine = MonitorEngine(.init(namespace: .path(lab.path))) { changes.put($0) }
        try engine.start()
        defer { engine.stop() }
        let all = try changes.wait(for: "the state") { !$0.isEmpty }
        #expect(all[0].path.interface?.name == "wan0")
        #expect(try engine.path(to: #require(IPAddress("192.0.2.9"))).interface?.name == "wan0")
    }

    @Test func `a file that is no namespace is refused with its name`() throws {
        for (namespace, code) in [
            (NetworkNamespace.name("no-such-namespace"), ReachabilityError.Code.namespaceNotFound),
            (.path("/no/such/file"), .namespaceNotFound),
            (.path("/dev/null"), .notANamespace),
            (.path("/proc/self/ns/uts"), .notANamespace),
            (.process(.max), .namespaceNotFound),
        ] {
            var configuration = MonitorConfiguration()
            configuration.namespace = namespace
            let engine = MonitorEngine(configuration) { _ in }
            let error = try #require(throws: ReachabilityError.self) { try engine.start() }
            #expect(error.code == code, "\(namespace)")
            #expect(!error.description.isEmpty)
            // A failed start leaves no thread running.
            #expect(throws: ReachabilityError.self) { try engine.view() }
        }
    }
}
