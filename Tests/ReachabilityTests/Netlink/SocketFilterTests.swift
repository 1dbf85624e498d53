import ReachabilityCore
import Testing

@testable import Reachability

/// The filter programs, run by the kernel.
@Suite struct SocketFilterTests {
    @Test(arguments: [0, 1, 2, 3, 4]) func `default-like routes pass`(length: UInt8) throws {
        let bench = try FilterBench(.routes())
        #expect(bench.passes(Message.route("2000::", length)))
        #expect(bench.passes(Message.route("0.0.0.0", length)))
        #expect(bench.passes(Message.route("0.0.0.0", length, isRemoval: true)))
    }

    @Test(arguments: [5, 8, 24, 32]) func `other routes do not pass`(length: UInt8) throws {
        let bench = try FilterBench(.routes())
        #expect(!bench.passes(Message.route("192.0.2.0", length)))
        #expect(!bench.passes(Message.route("192.0.2.0", length, isRemoval: true)))
        #expect(!bench.passes(Message.route("2001:db8::", length)))
    }

    @Test(arguments: [("22.0.0.0", 8), ("215.0.0.1", 32), ("208.0.0.0", 5), ("2d00::", 16), ("3d00::", 32)])
    func `routes that cover a probe address pass`(prefix: String, length: UInt8) throws {
        let bench = try FilterBench(.routes())
        #expect(bench.passes(Message.route(prefix, length)))
        #expect(bench.passes(Message.route(prefix, length, isRemoval: true)))
    }

    @Test func `messages that are no routes pass`() throws {
        let bench = try FilterBench(.routes())
        var link = LinkMessage(index: 7)
        link.name = "eth0"
        #expect(bench.passes(NetlinkEncoder().encode(.link(link))))
        let address = AddressMessage(index: 7, address: .init(ipv4: 0xC000_0201), prefixLength: 32)
        #expect(bench.passes(NetlinkEncoder().encode(.address(address))))
        let settings = NetconfMessage(family: .ipv4, index: 7)
        #expect(bench.passes(NetlinkEncoder().encode(.netconf(settings))))
        #expect(!bench.passes(NetlinkEncoder().encode(.netconfRemoved(settings))))
    }

    @Test func `only routes that could cover a watched destination pass`() throws {
        let watched = try Set(["192.0.2.7", "203.0.113.9", "2001:db8:1:2::3"].map { try #require(IPAddress($0)) })
        let bench = try FilterBench(.routes(covering: watched))
        for (prefix, length) in [
            ("192.0.2.0", 24), ("192.0.2.7", 32), ("192.0.0.0", 8), ("203.0.113.8", 31), ("0.0.0.0", 0),
            ("2001:db8::", 32), ("2001:db8:1:2::", 64), ("2001:db8:1:2::3", 128), ("2001::", 16), ("::", 0),
        ] {
            #expect(bench.passes(Message.route(prefix, UInt8(length))), "\(prefix)/\(length)")
            #expect(bench.passes(Message.route(prefix, UInt8(length), isRemoval: true)), "\(prefix)/\(length)")
        }
        for (prefix, length) in [
            ("192.0.3.0", 24), ("192.0.2.6", 32), ("193.0.0.0", 8), ("203.0.113.10", 31),
            ("2001:db9::", 32), ("2002::", 16), ("3001:db8::", 128),
        ] {
            #expect(!bench.passes(Message.route(prefix, UInt8(length))), "\(prefix)/\(length)")
        }
    }

    @Test func `a watch of one family passes no more of the other`() throws {
        let ipv4 = try FilterBench(.routes(covering: [try #require(IPAddress("192.0.2.7"))]))
        #expect(!ipv4.passes(Message.route("2001:db8::", 32)))
        let ipv6 = try FilterBench(.routes(covering: [try #require(IPAddress("2001:db8::1"))]))
        #expect(!ipv6.passes(Message.route("192.0.2.0", 24)))
    }

    @Test func `hundreds of destinations fit; with too many every route passes`() throws {
        let some = Set((0..<700).map { IPAddress(ipv4: 0x0A00_0000 + $0 * 256) })
        let bench = try FilterBench(.routes(covering: some))
        #expect(bench.passes(Message.route("10.2.187.0", 24)))
        #expect(!bench.passes(Message.route("10.2.188.0", 24)))
        let many = Set((0..<5_000).map { IPAddress(ipv4: 0x0A00_0000 + $0) })
        #expect(SocketFilter.routes(covering: many) == SocketFilter(instructions: [.accept]))
    }

    @Test(arguments: ["add", "move", "remove", "change", "online", "offline", "bind", "unbind"])
    func `uevents of devices pass, those of virtual interfaces do not`(action: String) throws {
        let bench = try FilterBench(.uevents)
        let rest = "\0ACTION=\(action)\0SUBSYSTEM=net\0"
        #expect(!bench.passes(Array("\(action)@/devices/virtual/net/veth0\(rest)".utf8)))
        #expect(!bench.passes(Array("\(action)@/devices/virtual/net/veth0/queues/rx-0\(rest)".utf8)))
        #expect(bench.passes(Array("\(action)@/devices/pci0000:00/0000:00:1f.6/net/eth0\(rest)".utf8)))
        #expect(bench.passes(Array("\(action)@/devices/virtual/mac80211_hwsim/hwsim0/net/wlan0\(rest)".utf8)))
        #expect(bench.passes(Array("\(action)@/devices/virtual/nothing/at/all\(rest)".utf8)))
    }

    @Test func `of generic netlink, only Wi-Fi interfaces and associations, and the options of teams pass`() throws {
        let bench = try FilterBench(.wireless)
        let heard: Set<UInt8> = [2, 6, 7, 8, 37, 38, 39, 40, 46, 47, 48]
        for command in UInt8.min...UInt8.max {
            #expect(bench.passes(Message.wireless(command)) == heard.contains(command), "command \(command)")
        }
    }

    @Test func `of the list of generic families, only known families and the end pass`() throws {
        let bench = try FilterBench(.wireless)
        for command in UInt8(0)...10 {
            #expect(bench.passes(Message.wireless(command, family: 16)) == (command == 1), "command \(command)")
        }
        #expect(bench.passes(NetlinkEncoder().encode(.done(errno: 0))))
        #expect(bench.passes(NetlinkEncoder().encode(.error(errno: 1))))
    }

    /// Messages in the form in which the kernel broadcasts them.
    private enum Message {
        static func wireless(_ command: UInt8, family: UInt16 = 35) -> [UInt8] {
            var builder = NetlinkMessageBuilder(type: family)
            builder.append(bytes: [command, 1, 0, 0])
            builder.attribute(3, UInt32(3))
            return builder.build()
        }

        static func route(_ prefix: String, _ length: UInt8, isRemoval: Bool = false) -> [UInt8] {
            let address = IPAddress(prefix) ?? .init(ipv4: 0)
            var message = RouteMessage(destination: .init(address, length: length))
            message.table = .init(rawValue: 1_000)
            message.nextHops = [.init(interface: 2)]
            return NetlinkEncoder().encode(isRemoval ? .routeRemoved(message) : .route(message))
        }
    }
}
