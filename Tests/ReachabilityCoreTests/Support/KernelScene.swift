import NetworkLab
import ReachabilityCore

/// A namespace with entries in every table of the kernel that the decoder reads.
enum KernelScene {
    /// Makes the namespace; the far end of one veth pair lies in another one.
    static func make() throws -> (lab: LabNamespace, other: LabNamespace) {
        let lab = try LabNamespace()
        let other = try LabNamespace()
        let events = try LabEvents(in: lab)
        // Nothing may change by itself while two programs read the same table: no DAD, no link-local addresses.
        for name in ["all", "default"] { try lab.setSysctl("net.ipv6.conf.\(name).accept_dad", to: 0) }
        try lab.setSysctl("net.ipv6.conf.default.addr_gen_mode", to: 1)
        try lab.rtnl.createVeth("x0", .init(index: 60), peer: "y0", .init(index: 61, namespace: other))
        for script in [links, addresses, routes, nexthops, neighbours] { try IPCommand.script(script, in: lab) }
        for family in ["-4", "-6"] {
            try IPCommand.script(rules.map { "ip \(family) rule add \($0)" }.joined(separator: "\n"), in: lab)
        }
        try IPCommand.script(rulesWithPrefixes, in: lab)
        for (name, value) in settings { try lab.setSysctl(name, to: value) }
        try events.wait(for: "the carriers of all that were set up") {
            try ["w0", "f0", "br0", "m0"].allSatisfy { try lab.rtnl.link($0).operationalState == .up }
        }
        return (lab, other)
    }

    private static let links = """
        ip link add w0 index 10 type veth peer name f0 index 20
        ip link add br0 index 30 type bridge
        ip link add m0 index 40 link w0 type macvlan mode bridge
        ip link add ifb7 index 50 type ifb
        ip link set f0 master br0
        ip link set w0 group 7 mtu 1400
        ip link property add dev w0 altname an-alternative-name
        for name in w0 f0 br0 m0; do ip link set $name up; done
        """

    private static let addresses = """
        ip address add 192.0.2.2/24 dev w0
        ip address add 192.0.2.9 peer 198.51.100.1/32 dev w0 valid_lft 5000 preferred_lft 4000
        ip address add 2001:db8::2/64 dev w0
        ip address add 2001:db8::3 peer 2001:db8::4/128 dev w0
        ip address add 2001:db8:1::5/64 dev w0 preferred_lft 0 valid_lft 600
        """

    private static let routes = """
        ip route add default via 192.0.2.1 metric 600
        ip route add default via 192.0.2.3 dev w0 metric 700 onlink src 192.0.2.2
        ip route add default metric 800 nexthop via 192.0.2.1 weight 3 \
            nexthop via inet6 fe80::1 dev w0 weight 256 nexthop dev m0
        ip route add unreachable default metric 900
        ip route add blackhole 10.0.0.0/8 table 1000
        ip route add prohibit 0.0.0.0/1 table 70000
        ip route add throw 128.0.0.0/1 table 70000
        ip -4 route add default via 192.0.2.7 dev w0 table 5 tos 0x10
        ip route add default via inet6 fe80::2 dev w0 table 6
        ip -6 route add default via fe80::1 dev w0 metric 1024 expires 1800 pref high
        ip -6 route add default metric 2048 nexthop via fe80::2 dev w0 weight 2 nexthop via fe80::3 dev w0
        ip -6 route add default from 2001:db8:7::/48 via fe80::4 dev w0 metric 10 pref low
        ip -6 route add unreachable 2000::/3 table 1000 metric 77
        """

    private static let nexthops = """
        ip nexthop add id 7 via 192.0.2.77 dev w0
        ip nexthop add id 8 blackhole
        ip nexthop add id 9 dev w0
        ip nexthop add id 10 group 7,200/9
        ip nexthop add id 11 via fe80::7 dev w0
        ip nexthop add id 12 via 192.0.2.78 fdb
        ip nexthop add id 13 via 192.0.2.79 dev w0 onlink
        ip route add 203.0.113.0/24 nhid 10
        ip -6 route add 2001:db8:9::/48 nhid 11
        """

    private static let neighbours = """
        ip neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev w0 nud permanent
        ip neighbour add 192.0.2.50 lladdr 02:00:00:00:00:50 dev w0 nud noarp
        ip neighbour add fe80::1 lladdr 02:00:00:00:00:01 dev w0 nud permanent
        ip neighbour add proxy 192.0.2.99 dev w0
        bridge fdb add 02:00:00:00:00:09 dev f0 master
        """

    private static let rules = [
        "pref 100 not from all fwmark 0x5/0xff lookup 1000", "pref 101 iif lo oif w0 uidrange 0-0 lookup 70000",
        "pref 102 ipproto udp sport 1000-2000 dport 443 lookup main suppress_prefixlength 0",
        "pref 103 lookup main suppress_ifgroup 7", "pref 104 goto 32766", "pref 105 tos 0x10 blackhole",
        "pref 106 from all unreachable protocol 77", "pref 107 prohibit", "pref 108 l3mdev", "pref 109 tun_id 77 nop",
        "pref 111 fwmark 9 lookup 5", "pref 112 iif gone0 oif gone1 lookup 5",
    ]

    private static let rulesWithPrefixes = """
        ip rule add pref 110 from 198.51.100.0/24 to 203.0.113.5 lookup 5
        ip -6 rule add pref 110 from 2001:db8::/32 to 2001:db8::5 lookup 5
        """

    private static let settings = [
        ("net.ipv4.conf.w0.forwarding", 1), ("net.ipv4.conf.m0.ignore_routes_with_linkdown", 1),
        ("net.ipv6.conf.w0.ignore_routes_with_linkdown", 1), ("net.ipv6.conf.w0.use_tempaddr", 2),
        ("net.ipv6.conf.f0.use_tempaddr", 1), ("net.ipv6.conf.f0.use_optimistic", 1),
        ("net.ipv6.conf.m0.use_oif_addrs_only", 1),
    ]
}
