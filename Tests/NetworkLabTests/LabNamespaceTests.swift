import Dispatch
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("LabNamespace")
struct LabNamespaceTests {
    @Test("A new namespace has the loopback interface, up, and nothing else")
    func fresh() throws {
        let lab = try LabNamespace()
        let links = try lab.rtnl.events(of: .links).compactMap { event -> LinkMessage? in
            guard case .link(let link) = event else { return nil }
            return link
        }
        #expect(links.filter { $0.flags.contains(.up) }.map(\.name) == ["lo"])
    }

    @Test("The thread is inside during a run and back afterwards, even after an error")
    func runs() throws {
        let home = try inode("/proc/thread-self/ns/net")
        let lab = try LabNamespace()
        #expect(try inode("/proc/thread-self/ns/net") == home)
        let inside = try lab.run { try inode("/proc/thread-self/ns/net") }
        #expect(inside != home)
        #expect(try inode(lab.path) == inside)
        #expect(throws: LabError("stop", errno: 1)) { try lab.run { throw LabError("stop", errno: 1) } }
        #expect(try inode("/proc/thread-self/ns/net") == home)
    }

    @Test("Runs can be nested, and each returns to the enclosing one")
    func nested() throws {
        let outer = try LabNamespace()
        let inner = try LabNamespace()
        let seen = try outer.run {
            try [inode(outer.path), inner.run { try inode(inner.path) }, inode("/proc/thread-self/ns/net")]
        }
        #expect(seen[0] == seen[2])
        #expect(seen[0] != seen[1])
    }

    @Test("withNetworkNamespace runs its body inside")
    func scoped() throws {
        let (inside, named) = try withNetworkNamespace { lab in
            (try inode("/proc/thread-self/ns/net"), try inode(lab.path))
        }
        #expect(inside == named)
    }

    @Test("Tasks that a thread inside starts run outside, where it has to be started for them")
    func tasks() async throws {
        let home = try inode("/proc/self/ns/net")
        let lab = try LabNamespace()
        let seen: [UInt?] = try await withCheckedThrowingContinuation { continuation in
            do {
                let thread = try lab.run {
                    // No other test has tasks of this priority, whose threads are started for them.
                    try LabThread {
                        let inside = try? inode("/proc/thread-self/ns/net")
                        Task.detached(priority: .background) {
                            continuation.resume(returning: [inside, try? inode("/proc/thread-self/ns/net")])
                        }
                    }
                }
                thread.join()
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(try seen == [inode(lab.path), home])
    }

    @Test("What a thread inside hands to a dispatch queue runs outside, where a thread has to be started for it")
    func queues() async throws {
        let home = try inode("/proc/self/ns/net")
        let lab = try LabNamespace()
        let seen: UInt? = try await withCheckedThrowingContinuation { continuation in
            do {
                try lab.run {
                    // No other test uses this class of service, whose threads are started for it.
                    DispatchQueue.global(qos: .userInteractive).async {
                        continuation.resume(returning: try? inode("/proc/thread-self/ns/net"))
                    }
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(seen == home)
    }

    @Test("Threads that are started inside stay inside")
    func threads() throws {
        let lab = try LabNamespace()
        let seen = LabInbox<UInt>()
        let thread = try lab.run {
            try LabThread { if let inside = try? inode("/proc/thread-self/ns/net") { seen.put(inside) } }
        }
        thread.join()
        #expect(try seen.all == [inode(lab.path)])
    }

    @Test("A setting is written in the namespace and nowhere else")
    func sysctl() throws {
        let lab = try LabNamespace()
        let other = try LabNamespace()
        let before = try other.sysctl("net.ipv4.conf.all.forwarding")
        let value = before == "0" ? 1 : 0
        try lab.setSysctl("net.ipv4.conf.all.forwarding", to: value)
        #expect(try lab.sysctl("net.ipv4.conf.all.forwarding") == "\(value)")
        #expect(try other.sysctl("net.ipv4.conf.all.forwarding") == before)
    }

    @Test("A setting of an interface with a dot in its name is written with a slash")
    func dottedSysctl() throws {
        let lab = try LabNamespace()
        try lab.rtnl.createVeth("a.1", peer: "b")
        try lab.setSysctl("net.ipv4.conf.a/1.ignore_routes_with_linkdown", to: 1)
        #expect(try lab.sysctl("net.ipv4.conf.a/1.ignore_routes_with_linkdown") == "1")
    }

    @Test("A setting that does not exist is an error with its path")
    func unknownSysctl() throws {
        let lab = try LabNamespace()
        let error = #expect(throws: LabError.self) { try lab.setSysctl("net.ipv4.nonsense", to: 1) }
        #expect(error?.errno == ENOENT)
        #expect(error?.operation == "open /proc/sys/net/ipv4/nonsense")
    }

    private func inode(_ path: String) throws -> UInt {
        var status = stat()
        guard stat(path, &status) == 0 else { throw LabError("stat \(path)", errno: errno) }
        return UInt(status.st_ino)
    }
}
