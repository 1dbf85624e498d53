import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// Refusals of the kernel before a connection is established: `neverSent`, with its errno, and no resources left
/// behind.
@Suite(.timeLimit(.minutes(10)))
struct NetworkFaultTests {
    @Test(arguments: NetworkFault.table)
    func `refusals of the kernel`(fault: NetworkFault) async throws {
        try await FaultLab.run { faults in
            try layOut(faults.lab)
            try fault.arrange(faults.lab)
            let session = try faults.session(.init(binding: fault.binding))
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.post(fault.url, parameters: ["a": "b"]).response()
            }
            #expect(error?.code == fault.code, "\(error.debugDescription)")
            #expect(error?.processing == .neverSent)
            #expect(error?.errno == fault.errno)
            try await faults.end(session)
        }
    }

    private func layOut(_ lab: LabNamespace) throws {
        let rtnl = lab.rtnl
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.setUp("wan0", "far0")
        try rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try rtnl.addAddress("fd00::2/64", on: "wan0")
        // The far end has no address, and address resolution soon fails.
        for family in ["ipv4", "ipv6"] {
            try lab.setSysctl("net.\(family).neigh.wan0.mcast_solicit", to: 1)
            try lab.setSysctl("net.\(family).neigh.wan0.retrans_time_ms", to: 10)
        }
    }

    @Test func `all ports are in use`() async throws {
        try await FaultLab.run { faults in
            let range = "echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range"
            let outcome = try faults.lab.run { try LabProcess.run("/bin/sh", ["-c", range]) }
            try #require(outcome.code == 0, "\(outcome.errors)")
            let server = try ScriptedServer(in: faults.lab, port: 8080) { _ in [.readRequest, .hold] }
            let session = try faults.session()
            let first = session.get("http://127.0.0.1:8080/")
            // Until the first connection is established here too, it may get the error of the second.
            try await server.wait(for: "the first request") { $0.first?.requests.count == 1 }
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.get("http://127.0.0.1:8080/").response()
            }
            #expect(error?.code == .addressNotAvailable, "\(error.debugDescription)")
            #expect(error?.processing == .neverSent)
            #expect(error?.errno == EADDRNOTAVAIL)
            first.cancel()
            _ = await #expect(throws: HTTPError.self) { try await first.response() }
            try await faults.end(session)
            try await server.stop()
        }
    }

    @Test(arguments: [true, false])
    func `a server that never accepts`(hasTotalLimit: Bool) async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, backlog: 0, accepting: 0) { _ in [] }
            let filler = try FilledBacklog(of: server, in: faults.lab)
            var configuration = HTTPConfiguration.lasting
            configuration.limit(hasTotalLimit ? \.total : \.connect)
            let session = try faults.session(configuration)
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.get("http://127.0.0.1:\(server.port)/").response()
            }
            #expect(error?.code == (hasTotalLimit ? .requestTimedOut : .connectTimedOut))
            #expect(error?.processing == .neverSent)
            try await faults.end(session)
            filler.close()
            try await server.stop()
        }
    }

    @Test func `a Unix socket that is not there, not listened on, and not allowed`() async throws {
        try await FaultLab.run { faults in
            let folder = try LabFolder()
            let path = "\(folder.path)/socket"
            func failure() async throws -> HTTPError? {
                let session = try faults.session(.init(unixSocketPath: path))
                let error = await #expect(throws: HTTPError.self) {
                    _ = try await session.get("http://any.example/").response()
                }
                try await faults.end(session)
                #expect(error?.processing == .neverSent)
                return error
            }
            let missing = try await failure()
            #expect(missing?.code == .connectFailed)
            #expect(missing?.errno == ENOENT)
            try folder.write("socket", "a file, and no socket")
            #expect(try await failure()?.code == .connectionRefused)
        }
    }
}
