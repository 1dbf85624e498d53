import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore
import Testing

/// A machine with IPv6 only, behind radvd and Debian's translator tayga.
@Suite(
    .serialized,
    .blocksItsThread,
    .enabled(if: ProbedNetwork.isInstalled, Comment(rawValue: ProbedNetwork.advice)),
    .enabled(if: access("/dev/net/tun", R_OK | W_OK) == 0, "tayga needs /dev/net/tun"),
    .timeLimit(.minutes(5))
)
struct TranslatorLabTests {
    /// The maximum number of packets until a verdict: those of ``VerdictLabTests``, and the messages of IPv6 itself.
    private static let budget: UInt64 = 90

    private let network: ProbedNetwork
    private let authority: CertificateAuthority
    private let servers: LabServers
    private let roots: LabFolder

    init() throws {
        network = try ProbedNetwork(.ipv6)
        authority = try CertificateAuthority("Own")
        servers = try .own(authority, in: network)
        roots = try LabFolder()
        try roots.write("roots.pem", authority.rootPEM)
    }

    private func watch(_ endpoints: String...) throws -> WatchedMachine {
        let arguments = ["--roots", "\(roots.path)/roots.pem"] + endpoints
        return try WatchedMachine(arguments, nameServer: "2001:db8:1::1", on: network)
    }

    @Test(arguments: [
        ("2001:db8:64::/96", "2001:db8:64::c000:aa"), ("2001:db8:64:64::/64", "2001:db8:64:64:c0:0:aa00:0"),
        ("2001:db8:6400::/40", "2001:db8:64c0:0:aa::"),
    ])
    func `addresses of IPv4 are probed behind a translator that the name server reveals`(
        prefix: String,
        revealing: String
    ) throws {
        let translator = try LabServers.tayga(prefix, in: network)
        let names = try LabServers.dnsmasq([("ipv4only.arpa", revealing)], at: "2001:db8:1::1", in: network)
        let machine = try watch("https://203.0.113.7/", "http://203.0.113.8/")
        let before = try network.machine.sentPackets("wan0")
        let event = ProbedNetwork.now
        let router = try LabServers.radvd(in: network)
        let (packets, _) = try machine.measure(
            "validated \(prefix) nameServer",
            of: "tayga, revealed by dnsmasq",
            since: event,
            packets: before
        )
        #expect(packets <= Self.budget)
        withExtendedLifetime((translator, names, router)) {}
    }

    @Test func `addresses of IPv4 are probed behind a translator that the router announces`() throws {
        let prefix = "2001:db8:64::/96"
        let translator = try LabServers.tayga(prefix, in: network)
        let machine = try watch("tcp://203.0.113.7:443", "http://203.0.113.8/")
        let before = try network.machine.sentPackets("wan0")
        let event = ProbedNetwork.now
        // radvd 2.19 has no options for translators and portals. The lifetime is 1,800 seconds, the code of /96 is 0.
        let options: [UInt8] = [38, 2, 0x07, 0x08, 0x20, 0x01, 0x0D, 0xB8, 0, 0x64, 0, 0, 0, 0, 0, 0]
        try advertise(options)
        let (packets, _) = try machine.measure(
            "validated \(prefix) routerAdvertisement",
            of: "tayga, announced by a router",
            since: event,
            packets: before
        )
        #expect(packets <= Self.budget)
        withExtendedLifetime(translator) {}
    }

    @Test func `a certificate that is not for the IPv4 address behind the translator is an interception`() throws {
        let translator = try LabServers.tayga("2001:db8:64::/96", in: network)
        // The servers' certificate is for the first two addresses.
        try network.internet.rtnl.addAddress("203.0.113.9/32", on: "lo")
        let machine = try watch("https://203.0.113.9/", "tls://203.0.113.9:443")
        let before = try network.machine.sentPackets("wan0")
        let event = ProbedNetwork.now
        try advertise([38, 2, 0x07, 0x08, 0x20, 0x01, 0x0D, 0xB8, 0, 0x64, 0, 0, 0, 0, 0, 0])
        try machine.measure(
            "internet.interception 2001:db8:64::/96 routerAdvertisement",
            of: "a foreign certificate behind tayga",
            since: event,
            packets: before
        )
        withExtendedLifetime(translator) {}
    }

    /// Advertises the router's prefix and options; a machine makes its address of the prefix (RFC 4862).
    private func advertise(_ options: [UInt8]) throws {
        let local = try #require(
            try network.router.rtnl.addresses(.ipv6, on: "lan0").map(\.address).first { $0.isLinkLocal }
        )
        // On-link and autonomous, valid and preferred for an hour (RFC 4861, 4.6.2).
        let prefix: [UInt8] =
            [3, 4, 64, 0xC0, 0, 0, 0x0E, 0x10, 0, 0, 0x0E, 0x10, 0, 0, 0, 0] + [0x20, 0x01, 0x0D, 0xB8, 0, 1]
            + [UInt8](repeating: 0, count: 10)
        try network.router.advertiseRouter(local, lifetime: 1_800, on: 20, options: prefix + options)
    }

    // MARK: What the kernel passes on

    @Test func `the kernel passes on the options of radvd's advertisements`() throws {
        let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try network.machine.run {
            OwnedDescriptor(try systemCall("socket") { socket(AF_NETLINK, type, 0) })
        }
        // A socket without a port is given no messages: struct sockaddr_nl, of which the kernel chooses the port.
        let address: [UInt8] = [UInt8(AF_NETLINK), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        try address.withUnsafeBytes { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
            _ = try systemCall("bind") { bind(descriptor.number, pointer, socklen_t(bytes.count)) }
        }
        // NETLINK_ADD_MEMBERSHIP of SOL_NETLINK, with RTNLGRP_ND_USEROPT.
        try setOption(descriptor.number, level: 270, 1, 20, "NETLINK_ADD_MEMBERSHIP")
        let router = try LabServers.radvd(in: network)
        var types: Set<UInt8> = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !types.isSuperset(of: [25, 31]) {
            var wait = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, 120_000)
            try #require(ready == 1, "seen: \(types)")
            let count = try systemCall("recv") { recv(descriptor.number, &buffer, buffer.count, 0) }
            // struct nlmsghdr of 16 bytes with the type at 4, then struct nduseroptmsg of 16, then the option's type.
            guard count > 32, buffer[4] == 68 else { continue }
            types.insert(buffer[32])
            print("validation lab: RTM_NEWNDUSEROPT from radvd, option \(buffer[32]), \(count) bytes")
        }
        withExtendedLifetime(router) {}
    }
}
