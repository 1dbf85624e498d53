import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// What the real kernel passes on, from a router in another namespace.
@Suite(.timeLimit(.minutes(5))) struct RouterEventsTests {
    /// A machine with one link to a router.
    private struct Lab {
        let home: LabNamespace
        let router: LabNamespace
        let stream: AsyncStream<RouterEvents.Event>
        let events: RouterEvents

        init() throws {
            home = try LabNamespace()
            router = try LabNamespace()
            try home.rtnl.createVeth("wan0", .init(index: 10), peer: "far0", .init(index: 20, namespace: router))
            // Without the check for duplicates, the addresses can be used at once.
            try home.setSysctl("net.ipv6.conf.wan0.accept_dad", to: 0)
            try router.setSysctl("net.ipv6.conf.far0.accept_dad", to: 0)
            let (stream, continuation) = AsyncStream.makeStream(of: RouterEvents.Event.self)
            self.stream = stream
            events = try home.run { try RouterEvents { continuation.yield($0) } }
            try Self.setUp(home, "wan0", router, "far0")
        }

        private static func setUp(_ home: LabNamespace, _ near: String, _ router: LabNamespace, _ far: String) throws {
            let changes = [try LabEvents(in: home), try LabEvents(in: router)]
            try home.rtnl.setUp(near)
            try router.rtnl.setUp(far)
            for (events, (lab, name)) in zip(changes, [(home, near), (router, far)]) {
                try events.wait(for: "an address of \(name)") {
                    try lab.rtnl.addresses(.ipv6, on: name).contains { !$0.flags.contains(.tentative) }
                }
            }
        }
    }

    /// A router advertisement (RFC 4861, 4.2) without a lifetime, and options; the kernel computes the checksum.
    private static func advertise(_ options: [UInt8], on index: UInt32, in router: LabNamespace) throws {
        let message: [UInt8] = [134, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + options
        try router.run {
            let type = Int32(SOCK_RAW.rawValue)
            let raw = OwnedDescriptor(try systemCall("socket") { socket(AF_INET6, type, Int32(IPPROTO_ICMPV6)) })
            try setOption(raw.number, level: Int32(IPPROTO_IPV6), IPV6_MULTICAST_HOPS, 255, "IPV6_MULTICAST_HOPS")
            var all = sockaddr_in6()
            all.sin6_family = sa_family_t(AF_INET6)
            all.sin6_scope_id = index
            inet_pton(AF_INET6, "ff02::1", &all.sin6_addr)
            try withUnsafeBytes(of: all) { address in
                let pointer = address.assumingMemoryBound(to: sockaddr.self).baseAddress
                _ = try systemCall("sendto") {
                    sendto(raw.number, message, message.count, 0, pointer, socklen_t(address.count))
                }
            }
        }
    }

    @Test func `the kernel passes on a captive portal and a prefix for NAT64`() async throws {
        let lab = try Lab()
        let portal: [UInt8] = [37, 4] + Array("https://portal.example/api".utf8) + [0, 0, 0, 0]
        let translator: [UInt8] = [38, 2, 0x07, 0x08, 0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        try Self.advertise(portal + translator, on: 20, in: lab.router)
        var found: [RouterOption] = []
        for await event in lab.stream {
            guard case .options(let message) = event else { continue }
            #expect(message.index == 10)
            #expect(message.router?.isLinkLocal == true)
            found += message.options
            if found.count == 2 { break }
        }
        #expect(
            found == [.captivePortal("https://portal.example/api"), .nat64(.wellKnown, lifetime: .seconds(1_800))]
        )
    }

    @Test func `a neighbour that does not answer is reported`() async throws {
        let lab = try Lab()
        try lab.home.rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try lab.home.setSysctl("net.ipv4.neigh.wan0.mcast_solicit", to: 1)
        try lab.home.setSysctl("net.ipv4.neigh.wan0.retrans_time_ms", to: 50)
        try lab.home.run {
            let type = Int32(SOCK_DGRAM.rawValue)
            let sender = OwnedDescriptor(try systemCall("socket") { socket(AF_INET, type, 0) })
            var silent = sockaddr_in()
            silent.sin_family = sa_family_t(AF_INET)
            silent.sin_port = UInt16(9).bigEndian
            inet_pton(AF_INET, "192.0.2.99", &silent.sin_addr)
            try withUnsafeBytes(of: silent) { address in
                let pointer = address.assumingMemoryBound(to: sockaddr.self).baseAddress
                _ = try systemCall("sendto") { sendto(sender.number, "x", 1, 0, pointer, socklen_t(address.count)) }
            }
        }
        let event = await lab.stream.first { if case .neighbourFailed = $0 { true } else { false } }
        let address = try #require(IPAddress("192.0.2.99"))
        #expect(event == .neighbourFailed(address, 10))
    }

    @Test func `it ends with its last owner`() throws {
        let lab = try LabNamespace()
        for _ in 0..<20 { _ = try lab.run { try RouterEvents { _ in } } }
    }
}
