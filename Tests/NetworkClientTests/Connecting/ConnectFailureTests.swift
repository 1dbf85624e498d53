import Glibc
import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab
import ReachabilityCore
import Testing

@testable import NetworkClient

@Suite("Connections that fail", .timeLimit(.minutes(5)))
struct ConnectFailureTests {
    @Test func `refused`() async throws {
        try await LabLoops.run { loops in
            for host in ["127.0.0.1", "::1"] {
                let error = try await loops.failure(connectingTo: .init(host))
                #expect(error.code == .connectionRefused)
                #expect(error.errno == ECONNREFUSED)
                #expect(error.processing == .neverSent)
            }
        }
    }

    @Test func `no route`() async throws {
        try await LabLoops.run { loops in
            for host in ["192.0.2.1", "2001:db8::1"] {
                let error = try await loops.failure(connectingTo: .init(host))
                #expect(error.code == .networkUnreachable)
                #expect(error.errno == ENETUNREACH)
            }
        }
    }

    @Test(
        "Routes that refuse",
        arguments: [
            (RouteType.unreachable, HTTPError.Code.hostUnreachable, EHOSTUNREACH), (.prohibit, .prohibited, EACCES),
            (.blackhole, .blackholed, EINVAL),
        ]
    )
    func routes(type: RouteType, code: HTTPError.Code, number: Int32) async throws {
        try await LabLoops.run { loops in
            for host in ["192.0.2.1", "2001:db8::1"] {
                let address = try #require(IPAddress(host))
                var route = RouteMessage(destination: IPPrefix(address, length: UInt8(address.family.bitWidth)))
                route.type = type
                try loops.lab.rtnl.route(.add, route)
                let error = try await loops.failure(connectingTo: .init(host))
                #expect(error.code == code, "\(host): \(error)")
                #expect(error.errno == number)
            }
        }
    }

    @Test func `a dead neighbour`() async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers()
            try loops.lab.setSysctl("net.ipv4.neigh.wan0.retrans_time_ms", to: 20)
            try loops.lab.setSysctl("net.ipv4.neigh.wan0.mcast_solicit", to: 1)
            let error = try await loops.failure(connectingTo: .init("192.0.2.77"))
            #expect(error.code == .hostUnreachable)
            #expect(error.errno == EHOSTUNREACH)
        }
    }

    @Test func `a silent peer, until the limit`() async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers("192.0.2.9")
            let limits = Timeouts(connect: .milliseconds(50))
            let error = try await loops.failure(connectingTo: .init("192.0.2.9"), limits: limits)
            #expect(error.code == .connectTimedOut)
            #expect(error.processing == .neverSent)
            #expect(error.reason.contains("192.0.2.9:9"))
        }
    }

    @Test(
        "What the own end is bound to and is not there",
        arguments: [
            (LocalBinding.address("192.0.2.55"), "127.0.0.1", HTTPError.Code.addressNotAvailable),
            (.address("2001:db8::55"), "::1", .addressNotAvailable),
            (.address("::1"), "127.0.0.1", .addressNotAvailable),
            (.address("an address"), "127.0.0.1", .invalidConfiguration),
            (.address("fe80::1%nothing0"), "::1", .interfaceNotFound),
            (.interface("nothing0"), "127.0.0.1", .interfaceNotFound),
            (.interface(""), "127.0.0.1", .interfaceNotFound),
            (.interfaceIndex(4711), "127.0.0.1", .interfaceNotFound),
            (.interfaceIndex(0), "127.0.0.1", .interfaceNotFound),
            (.interfaceIndex(-1), "127.0.0.1", .interfaceNotFound), (.unbound, "fe80::1%nothing0", .interfaceNotFound),
        ]
    )
    func bindings(binding: LocalBinding, host: String, code: HTTPError.Code) async throws {
        try await LabLoops.run { loops in
            let error = try await loops.failure(connectingTo: .init(host, 9, binding))
            #expect(error.code == code, "\(error)")
            #expect(error.processing == .neverSent)
        }
    }

    @Test func `bound to an interface that is down`() async throws {
        try await LabLoops.run { loops in
            try loops.addSilentPeers("192.0.2.9")
            try loops.lab.rtnl.setDown("wan0")
            let error = try await loops.failure(connectingTo: .init("192.0.2.9", 9, .interface("wan0")))
            #expect(error.code == .networkUnreachable)
        }
    }

    @Test func `Unix sockets`() async throws {
        let folder = try LabFolder()
        try await LabLoops.run { loops in
            let missing = try await loops.failure(connectingTo: .init(path: "\(folder.path)/none"))
            #expect(missing.code == .connectFailed)
            #expect(missing.errno == ENOENT)
            let path = try folder.write("file", "")
            #expect(try await loops.failure(connectingTo: .init(path: path)).code == .connectionRefused)
            let long = "\(folder.path)/\(String(repeating: "x", count: 108))"
            #expect(try await loops.failure(connectingTo: .init(path: long)).code == .invalidConfiguration)
        }
    }

    @Test(
        "Each error number has its code",
        arguments: [
            (ECONNREFUSED, HTTPError.Code.connectionRefused), (ENETUNREACH, .networkUnreachable),
            (ENETDOWN, .networkUnreachable),
            (EHOSTUNREACH, .hostUnreachable), (EHOSTDOWN, .hostUnreachable), (EACCES, .prohibited),
            (EPERM, .prohibited),
            (EINVAL, .blackholed), (EADDRNOTAVAIL, .addressNotAvailable), (ENODEV, .interfaceNotFound),
            (ENXIO, .interfaceNotFound), (EMFILE, .tooManyDescriptors), (ENFILE, .tooManyDescriptors),
            (ETIMEDOUT, .connectTimedOut), (ENOBUFS, .connectFailed), (ECONNRESET, .connectFailed),
        ]
    )
    func table(number: Int32, code: HTTPError.Code) throws {
        let failure = ConnectFailure(.init("example.com"), [try .numeric("192.0.2.1", port: 9)])
        let error = failure.error(for: IOError(errnoCode: number, reason: "connect"))
        #expect(error.code == code)
        #expect(error.errno == number)
        #expect(error.processing == .neverSent)
        #expect(error.reason.contains("192.0.2.1:9"))
    }
}
