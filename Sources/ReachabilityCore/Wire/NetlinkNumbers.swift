// The kernel's numbers, by the kernel's own short names, as include/uapi/linux/ has them.

/// `NLMSG_*`: control messages, below `NLMSG_MIN_TYPE` (`netlink.h`).
enum NLMSG {
    static let noop: UInt16 = 1
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let minType: UInt16 = 16
}

/// `RTM_*`: the message types of NETLINK_ROUTE (`rtnetlink.h`); in each group of four new, del, get, set.
enum RTM {
    static let newLink: UInt16 = 16
    static let delLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddr: UInt16 = 20
    static let delAddr: UInt16 = 21
    static let getAddr: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let delRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newNeigh: UInt16 = 28
    static let delNeigh: UInt16 = 29
    static let getNeigh: UInt16 = 30
    static let newRule: UInt16 = 32
    static let delRule: UInt16 = 33
    static let getRule: UInt16 = 34
    static let newNetconf: UInt16 = 80
    static let delNetconf: UInt16 = 81
    static let getNetconf: UInt16 = 82
    static let newStats: UInt16 = 92
    static let getStats: UInt16 = 94
    static let newNexthop: UInt16 = 104
    static let delNexthop: UInt16 = 105
    static let getNexthop: UInt16 = 106
}

/// `AF_*`: the families in which netlink speaks of other things than addresses (`socket.h`).
enum AF {
    static let unspec: UInt8 = 0
    static let inet: UInt8 = 2
    static let bridge: UInt8 = 7
    static let inet6: UInt8 = 10
}

/// `IFLA_*`: attributes of links (`if_link.h`).
enum IFLA {
    static let ifname: UInt16 = 3
    static let mtu: UInt16 = 4
    static let link: UInt16 = 5
    static let master: UInt16 = 10
    static let wireless: UInt16 = 11
    static let operstate: UInt16 = 16
    static let linkinfo: UInt16 = 18
    static let stats64: UInt16 = 23
    static let afSpec: UInt16 = 26
    static let group: UInt16 = 27
    static let extMask: UInt16 = 29
    static let carrier: UInt16 = 33
    static let linkNetnsid: UInt16 = 37
    static let targetNetnsid: UInt16 = 46
    static let parentDevBusName: UInt16 = 57

    /// `IFLA_INFO_*`, in `IFLA_LINKINFO`.
    enum Info {
        static let kind: UInt16 = 1
        static let data: UInt16 = 2
        static let slaveKind: UInt16 = 4
        static let slaveData: UInt16 = 5
    }

    /// `IFLA_VRF_TABLE`, in `IFLA_INFO_DATA` of a `vrf`.
    static let vrfTable: UInt16 = 1
    /// `IFLA_BOND_ACTIVE_SLAVE`, in `IFLA_INFO_DATA` of a `bond`.
    static let bondActiveSlave: UInt16 = 2
    /// `IFLA_BOND_MIIMON` and `IFLA_BOND_ARP_INTERVAL`: how often ports are looked at, in milliseconds; 0 for never.
    static let bondMIIMonitor: UInt16 = 3
    static let bondARPInterval: UInt16 = 7
    /// `IFLA_BOND_SLAVE_STATE`, in `IFLA_INFO_SLAVE_DATA` of a `bond`'s port.
    static let bondSlaveState: UInt16 = 1
    /// `IFLA_INET6_CONF`, in `AF_INET6` of `IFLA_AF_SPEC`: an array of 32-bit values, by `DEVCONF_*`.
    static let inet6Conf: UInt16 = 2
}

/// `DEVCONF_*`: positions in `IFLA_INET6_CONF` (`ipv6.h`).
enum DEVCONF {
    static let useTempaddr = 10
    static let useOptimistic = 34
    static let useOifAddrsOnly = 37
}

/// `IFA_*`: attributes of addresses (`if_addr.h`).
enum IFA {
    static let address: UInt16 = 1
    static let local: UInt16 = 2
    static let cacheinfo: UInt16 = 6
    static let flags: UInt16 = 8
    static let targetNetnsid: UInt16 = 10
}

/// `RTA_*`: attributes of routes and of their legs (`rtnetlink.h`).
enum RTA {
    static let dst: UInt16 = 1
    static let src: UInt16 = 2
    static let iif: UInt16 = 3
    static let oif: UInt16 = 4
    static let gateway: UInt16 = 5
    static let priority: UInt16 = 6
    static let prefsrc: UInt16 = 7
    static let multipath: UInt16 = 9
    static let cacheinfo: UInt16 = 12
    static let table: UInt16 = 15
    static let mark: UInt16 = 16
    static let via: UInt16 = 18
    static let pref: UInt16 = 20
    static let uid: UInt16 = 25
    static let ipProto: UInt16 = 27
    static let sport: UInt16 = 28
    static let dport: UInt16 = 29
    static let nhID: UInt16 = 30
}

/// `FRA_*`: attributes of rules (`fib_rules.h`, to Linux 6.15).
enum FRA {
    static let dst: UInt16 = 1
    static let src: UInt16 = 2
    static let iifname: UInt16 = 3
    static let goto: UInt16 = 4
    static let priority: UInt16 = 6
    static let fwmark: UInt16 = 10
    static let tunID: UInt16 = 12
    static let suppressIfgroup: UInt16 = 13
    static let suppressPrefixlen: UInt16 = 14
    static let table: UInt16 = 15
    static let fwmask: UInt16 = 16
    static let oifname: UInt16 = 17
    static let l3mdev: UInt16 = 19
    static let uidRange: UInt16 = 20
    static let `protocol`: UInt16 = 21
    static let ipProto: UInt16 = 22
    static let sportRange: UInt16 = 23
    static let dportRange: UInt16 = 24
    static let dscp: UInt16 = 25
    static let flowlabel: UInt16 = 26
    static let flowlabelMask: UInt16 = 27
    static let sportMask: UInt16 = 28
    static let dportMask: UInt16 = 29
    static let dscpMask: UInt16 = 30
}

/// `NHA_*`: attributes of nexthop objects (`nexthop.h`).
enum NHA {
    static let id: UInt16 = 1
    static let group: UInt16 = 2
    static let blackhole: UInt16 = 4
    static let oif: UInt16 = 5
    static let gateway: UInt16 = 6
    static let groups: UInt16 = 9
    static let master: UInt16 = 10
    static let fdb: UInt16 = 11
}

/// `NDA_*` and `NTF_*`: attributes and flags of neighbours (`neighbour.h`).
enum NDA {
    static let dst: UInt16 = 1
    static let ifindex: UInt16 = 8
    static let master: UInt16 = 9
    /// `NTF_PROXY` in `ndm_flags`: an address answered for, not a neighbour.
    static let proxyFlag: UInt8 = 0x08
}

/// `NETCONFA_*`: attributes of settings (`netconf.h`).
enum NETCONFA {
    static let ifindex: UInt16 = 1
    static let forwarding: UInt16 = 2
    static let ignoreRoutesWithLinkdown: UInt16 = 6
}

/// `IFLA_STATS_*`: attributes of counters, and the bits by which they are asked for (`if_link.h`).
enum STATS {
    static let link64: UInt16 = 1
    /// `IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)`.
    static let filterLink64: UInt32 = 1
}
