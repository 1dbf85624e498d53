// The kernel's numbers that the lab writes, by the kernel's short names, as include/uapi/linux/ has them. They are kept
// apart from the project's own, so that a wrong number there is found.

/// `NETLINK_*` and `SOL_NETLINK` (`netlink.h`, `socket.h`).
enum NETLINK {
    static let route: Int32 = 0
    static let level: Int32 = 270
    static let addMembership: Int32 = 1
    static let capAcknowledge: Int32 = 10
    static let extendedAcknowledge: Int32 = 11
    static let strictCheck: Int32 = 12
}

/// `NLMSG_*` (`netlink.h`).
enum NLMSG {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
}

/// `NLMSGERR_ATTR_*` (`netlink.h`).
enum NLMSGERR {
    static let message: UInt16 = 1
}

/// `RTM_*` (`rtnetlink.h`).
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
    static let getNetconf: UInt16 = 82
    static let newNexthop: UInt16 = 104
    static let delNexthop: UInt16 = 105
    static let getNexthop: UInt16 = 106
}

/// `IFLA_*` (`if_link.h`, `veth.h`).
enum IFLA {
    static let address: UInt16 = 1
    static let ifname: UInt16 = 3
    static let mtu: UInt16 = 4
    static let link: UInt16 = 5
    static let master: UInt16 = 10
    static let operstate: UInt16 = 16
    static let linkmode: UInt16 = 17
    static let linkinfo: UInt16 = 18
    static let group: UInt16 = 27
    static let netNsFd: UInt16 = 28
    static let carrier: UInt16 = 33
    static let infoKind: UInt16 = 1
    static let infoData: UInt16 = 2
    static let vethInfoPeer: UInt16 = 1
    static let macvlanMode: UInt16 = 1
    static let vxlanID: UInt16 = 1
    static let vxlanGroup: UInt16 = 2
    static let vxlanLink: UInt16 = 3
    static let vxlanLocal: UInt16 = 4
    static let vxlanPort: UInt16 = 15
    static let vxlanGroup6: UInt16 = 16
    static let vxlanLocal6: UInt16 = 17
}

/// `IFA_*` (`if_addr.h`).
enum IFA {
    static let address: UInt16 = 1
    static let local: UInt16 = 2
    static let cacheinfo: UInt16 = 6
    static let flags: UInt16 = 8
    static let routePriority: UInt16 = 9
}

/// `RTA_*` and `RTM_F_*` (`rtnetlink.h`).
enum RTA {
    static let dst: UInt16 = 1
    static let src: UInt16 = 2
    static let iif: UInt16 = 3
    static let oif: UInt16 = 4
    static let gateway: UInt16 = 5
    static let priority: UInt16 = 6
    static let prefsrc: UInt16 = 7
    static let multipath: UInt16 = 9
    static let table: UInt16 = 15
    static let mark: UInt16 = 16
    static let via: UInt16 = 18
    static let pref: UInt16 = 20
    static let expires: UInt16 = 23
    static let uid: UInt16 = 25
    static let ipProto: UInt16 = 27
    static let sport: UInt16 = 28
    static let dport: UInt16 = 29
    static let nhID: UInt16 = 30
    static let lookupTable: UInt32 = 0x1000
    static let fibMatch: UInt32 = 0x2000
}

/// `FRA_*` (`fib_rules.h`).
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

/// `NHA_*` (`nexthop.h`).
enum NHA {
    static let id: UInt16 = 1
    static let group: UInt16 = 2
    static let blackhole: UInt16 = 4
    static let oif: UInt16 = 5
    static let gateway: UInt16 = 6
    static let fdb: UInt16 = 11
}

/// `NDA_*` (`neighbour.h`).
enum NDA {
    static let dst: UInt16 = 1
    static let lladdr: UInt16 = 2
}
