import HTTPLab
import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

/// A session in a test's own network namespace, with checks that it leaves nothing.
final class FaultLab {
    let lab: LabNamespace
    let loops: LabLoops
    /// The number of running lookups, including abandoned ones.
    private let lookups = Observed(0)
    private let resolver: NameResolver

    private init(_ lab: LabNamespace, _ loops: LabLoops, resolvConf: String?) throws {
        self.lab = lab
        self.loops = loops
        let folder = try LabFolder()
        if let resolvConf { try folder.write("resolv.conf", resolvConf) }
        resolver = NameResolver { [lookups] name in
            lookups.update { $0 += 1 }
            defer { lookups.update { $0 -= 1 } }
            // The thread belongs to the resolver, and its mount namespace ends with it.
            if resolvConf != nil { try? LabMount.cover("/etc/resolv.conf", with: "\(folder.path)/resolv.conf") }
            return SystemLookup.addresses(of: name)
        }
    }

    /// Runs a test in a new namespace, and checks that it leaves no socket.
    ///
    /// - Parameters:
    ///   - resolvConf: The contents of /etc/resolv.conf for lookups; nil for the machine's own.
    ///   - body: The test.
    /// - Throws: The test's error, or the errno if no namespace can be created.
    static func run(resolvConf: String? = nil, _ body: (FaultLab) async throws -> Void) async throws {
        let lab = try LabNamespace()
        let before = try lab.openSockets()
        try await LabLoops.run(in: lab) { loops in
            let faults = try FaultLab(lab, loops, resolvConf: resolvConf)
            try await body(faults)
            try await faults.lookups.wait(for: "the lookups' end") { $0 == 0 }
            #expect(try await faults.openSockets(become: before) == before, "sockets are left")
        }
    }

    /// Returns the number of open sockets, once it is the expected one, or after a minute.
    ///
    /// The last ones are closed by threads in the background, without an event.
    private func openSockets(become expected: Int) async throws -> Int {
        var count = try lab.openSockets()
        for _ in 0..<6_000 where count != expected {
            try await loops.loop.scheduleTask(in: .milliseconds(10)) {}.futureResult.get()
            count = try lab.openSockets()
        }
        return count
    }

    /// Makes a session whose sockets and lookups belong to the namespace.
    func session(_ configuration: HTTPConfiguration = .lasting) throws -> HTTPSession {
        try HTTPSession(baseURL: nil, configuration, loop: loops.loop, resolver)
    }

    /// The number of a session's connections, including those being opened.
    func connections(of session: HTTPSession) async throws -> Int {
        let core = session.core
        return try await loops.loop.submit { core.pools.connectionCount }.get()
    }

    /// Ends a session, and checks that it leaves nothing.
    func end(_ session: HTTPSession) async throws {
        #expect(session.requests.isEmpty)
        #expect(try await connections(of: session) == 0, "connections are left")
        session.invalidate()
    }
}
