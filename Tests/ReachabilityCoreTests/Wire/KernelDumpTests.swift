import NetworkLab
import ReachabilityCore
import Testing

/// Decodes dumps of the kernel's tables and compares them with the output of ip(8).
@Suite(.serialized)
struct KernelDumpTests {
    private let lab: LabNamespace
    private let other: LabNamespace
    private let links: [LinkMessage]
    private let form: IPForm

    init() throws {
        (lab, other) = try KernelScene.make()
        links = try KernelSocket(in: lab).dump(.links).compactMap(\.linkMessage)
        form = IPForm(links)
    }

    @Test func `a dump of links lists what ip link prints`() throws {
        #expect(links.count == 7)
        #expect(links.map(form.link) == (try IPCommand.objects("-d link show", IPForm.linkFields, in: lab)))
    }

    @Test func `link settings are decoded`() throws {
        for link in links {
            let name = "net.ipv6.conf.\(link.name ?? "")"
            #expect(link.prefersTemporaryAddresses == (try Int(lab.sysctl("\(name).use_tempaddr")).map { $0 >= 2 }))
            #expect(link.usesOptimisticAddresses == (try lab.sysctl("\(name).use_optimistic") == "1"))
            #expect(link.usesOwnAddressesOnly == (try lab.sysctl("\(name).use_oif_addrs_only") == "1"))
            #expect(link.carrier == link.flags.contains(.lowerUp) || !link.flags.contains(.up))
        }
        #expect(links.contains { $0.prefersTemporaryAddresses == true })
        #expect(links.contains { $0.usesOptimisticAddresses == true })
        #expect(links.contains { $0.usesOwnAddressesOnly == true })
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of addresses lists what ip address prints`(family: AddressFamily) throws {
        let found = try KernelSocket(in: lab).dump(.addresses(family)).compactMap(\.addressMessage)
        let option = family == .ipv4 ? "-4" : "-6"
        for link in links {
            let own = found.filter { $0.index == link.index }
            let fields = Set(IPForm.addressFields.map { "addr_info..\($0)" })
            let objects = try IPCommand.objects("\(option) address show dev \(link.name ?? "")", fields, in: lab)
            var expected: [String: String] = [:]
            for (position, address) in own.enumerated() {
                for (key, value) in form.address(address) { expected["addr_info.\(position).\(key)"] = value }
            }
            #expect(objects.reduce(into: [:]) { $0.merge($1) { $1 } } == expected)
        }
        #expect(found.count >= 3)
        let dynamic = try #require(found.first { !$0.flags.contains(.permanent) })
        let limit: UInt32 = family == .ipv4 ? 5000 : 600
        #expect((limit - 10...limit).contains(dynamic.validLifetime ?? 0))
        #expect(dynamic.preferredLifetime.map { $0 <= (family == .ipv4 ? 4000 : 0) } == true)
        #expect(found.first { $0.flags.contains(.permanent) }?.validLifetime == .max)
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of routes lists what ip route prints`(family: AddressFamily) throws {
        let found = try KernelSocket(in: lab).dump(.routes(family, table: nil)).compactMap(\.routeMessage)
        let command = "\(family == .ipv4 ? "-4" : "-6") -d route show table all"
        #expect(found.map(form.route) == (try IPCommand.objects(command, IPForm.routeFields, in: lab)))
        #expect(found.contains { $0.nextHops.count > 1 && $0.isDefaultLike })
        let expiring = found.compactMap { $0.isDefaultLike ? $0.lifetime : nil }
        #expect(expiring.count == (family == .ipv4 ? 0 : 1))
        #expect(expiring.allSatisfy { $0 > .seconds(1790) && $0 <= .seconds(1800) })
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of rules lists what ip rule prints`(family: AddressFamily) throws {
        let found = try KernelSocket(in: lab).dump(.rules(family)).compactMap(\.ruleMessage)
        let command = "\(family == .ipv4 ? "-4" : "-6") rule show"
        #expect(found.map(form.rule) == (try IPCommand.objects(command, IPForm.ruleFields, in: lab)))
        #expect(found.count > 13)
    }

    @Test func `a dump of nexthop objects lists what ip nexthop prints`() throws {
        let found = try KernelSocket(in: lab).dump(.nexthops).compactMap(\.nexthopMessage)
        #expect(found.map(form.nexthop) == (try IPCommand.objects("nexthop show", IPForm.nexthopFields, in: lab)))
        #expect(found.count == 7)
        #expect(found.map(\.family) == [.ipv4, .ipv4, .ipv4, nil, .ipv6, .ipv4, .ipv4])
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of neighbours lists what ip neighbour prints`(family: AddressFamily) throws {
        let found = try KernelSocket(in: lab).dump(.neighbours(family, interface: 10)).compactMap(\.neighbourMessage)
        let command = "\(family == .ipv4 ? "-4" : "-6") neighbour show dev w0 nud permanent"
        let permanent = found.filter { $0.state == .permanent }.map(form.neighbour)
        let expected = try IPCommand.objects(command, IPForm.neighbourFields, in: lab)
        #expect(permanent.map { $0.filter { $0.key != "dev" } } == expected)
        #expect(permanent.count == 1)
        #expect(!found.contains { $0.address == IPAddress("192.0.2.99") })
        #expect(found.allSatisfy { $0.index == 10 && $0.address.family == family })
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of settings lists what ip netconf prints`(family: AddressFamily) throws {
        let found = try KernelSocket(in: lab).dump(.netconf(family)).compactMap(\.netconfMessage)
        let command = "\(family == .ipv4 ? "-4" : "-6") netconf show"
        #expect(found.map(form.netconf) == (try IPCommand.objects(command, IPForm.netconfFields, in: lab)))
        #expect(found.contains { $0.ignoresRoutesWithLinkDown == true })
    }

    /// Messages of the kernel are decoded, encoded and decoded again without a difference.
    @Test func `every message is unchanged after encoding and decoding`() throws {
        let socket = try KernelSocket(in: lab)
        let subjects: [DumpSubject] = [
            .links, .nexthops, .addresses(.ipv4), .addresses(.ipv6), .routes(.ipv4, table: nil),
            .routes(.ipv6, table: nil), .rules(.ipv4), .rules(.ipv6), .neighbours(.ipv4, interface: nil),
            .neighbours(.ipv6, interface: nil), .netconf(.ipv4), .netconf(.ipv6),
        ]
        var count = 0
        for event in try subjects.flatMap(socket.dump) {
            for byteOrder in ByteOrder.allCases {
                let bytes = NetlinkEncoder(byteOrder: byteOrder).encode(event)
                #expect(try decoded(bytes, byteOrder).map(\.event) == [event])
            }
            count += 1
        }
        #expect(count > 100)
    }
}
