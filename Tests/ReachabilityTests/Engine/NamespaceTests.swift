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

    @Test func `the threads on which a program is called are not in the monitor's namespace`() async throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let calls = LabInbox<NotedCall>()
        let monitor = try ReachabilityMonitor(configuration: .init(namespace: .path(lab.path)))
        let subscriptions = [
            monitor.subscribe(on: .immediate) { _ in calls.put(.init("immediate")) },
            monitor.subscribe { _ in calls.put(.init("serial")) },
        ]
        // A thread that resumes a task may start another for it, which is then in the same namespace.
        let task = Task(executorPreference: NotingExecutor(calls)) {
            for await _ in monitor.changes where monitor.status.isReachable { return }
        }
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        await task.value
        let kinds: Set = ["immediate", "serial", "task"]
        let seen = try calls.wait(for: "each kind") { Set($0.map(\.kind)) == kinds }
        for subscription in subscriptions { subscription.cancel() }
        let home = try #require(networkNamespace("/proc/self/ns/net"))
        #expect(networkNamespace(lab.path) != home)
        #expect(Set(seen.map(\.namespace)) == [home])
    }

    @Test func `sockets are opened in a namespace whose name is gone`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        let name = "/tmp/netwatch-namespace-\(getpid())"
        try #require(symlink(lab.path, name) == 0)
        let engine = MonitorEngine(.init(namespace: .path(name))) { _ in }
        defer { engine.stop() }
        do {
            defer { unlink(name) }
            try engine.start()
        }
        #expect(try engine.trafficMeter().read().contains { $0.index == 10 })
    }

    @Test func `a socket that cannot be opened in another namespace has the errno of the failed call`() throws {
        let lab = try LabNamespace()
        let namespace = try NetworkNamespace.path(lab.path).open()
        let error = #expect(throws: NetlinkError.self) {
            errno = EBUSY
            // No netlink protocol has this number.
            _ = try NetlinkSocket.open(99, in: namespace)
        }
        #expect(error?.errno == EPROTONOSUPPORT)
    }

    @Test func `another namespace is monitored`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        let changes = LabInbox<ReachabilityChange>()
        let engine = MonitorEngine(.init(namespace: .path(lab.path))) { changes.put($0) }
        try engine.start()
        defer { engine.stop() }
        let all = try changes.wait(for: "the state") { !$0.isEmpty }
        #expect(all[0].path.interface?.name == "wan0")
        _ = try engine.view()
        #expect(try engine.waitForPath(to: #require(IPAddress("192.0.2.9"))).interface?.name == "wan0")
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

/// The network namespace of a file of /proc; nil if there is none.
private func networkNamespace(_ path: String) -> UInt? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt(status.st_ino) : nil
}

/// A call, with the network namespace of the thread on which it was made.
private struct NotedCall: Sendable {
    let kind: String
    let namespace = networkNamespace("/proc/thread-self/ns/net")

    init(_ kind: String) { self.kind = kind }
}

/// Notes the network namespace of each thread that enqueues a job.
private final class NotingExecutor: TaskExecutor {
    private let calls: LabInbox<NotedCall>

    init(_ calls: LabInbox<NotedCall>) { self.calls = calls }

    func enqueue(_ job: UnownedJob) {
        calls.put(.init("task"))
        let executor = asUnownedTaskExecutor()
        Task.detached { job.runSynchronously(on: executor) }
    }
}
