public import ReachabilityCore

extension Reason {
    /// What to do about it, as `docs/reasons.md` says it; nil where there is nothing to do.
    ///
    /// `NAME` stands for the interface.
    public var cure: String? {
        switch self {
        case .reading: "Wait; it takes milliseconds."
        case .netlinkFailed:
            """
            Check for a sandbox that forbids netlink sockets (systemd: `RestrictAddressFamilies=AF_NETLINK` is \
            missing), and the limit of open files.
            """
        case .linkDown: "`ip link set dev NAME up`"
        case .carrierLost: "Check the cable, the access point or the modem."
        case .routeFlushed: "Add the route again once the link or the address is back."
        case .routeExpired: "Check whether the router still sends advertisements."
        case .overrun: "Raise `net.core.rmem_max` if it happens often."
        case .noRoute: "`ip route add default via GATEWAY dev NAME`"
        case .unreachable: "Find it with `ip rule` and `ip route show table all type unreachable`."
        case .prohibited: "Find it with `ip rule` and `ip route show table all type prohibit`."
        case .blackhole: "Find it with `ip rule` and `ip route show table all type blackhole`."
        case .loopbackPath: "Remove that route."
        case .interfaceDown: "`ip link set dev NAME up`"
        case .noCarrier:
            """
            Restore the carrier, or let the kernel skip such routes: `sysctl \
            net.ipv4.conf.all.ignore_routes_with_linkdown=1 net.ipv6.conf.all.ignore_routes_with_linkdown=1`.
            """
        case .dormant: "Check the credentials."
        case .associating: "Wait a second or two; if it lasts, check the passphrase."
        case .accessPoint: "Use another uplink; or, if a client is the gateway, run with `--kind NAME=wifi`."
        case .notAllowed: "Wait for another path, or allow this one."
        case .deadLeg: "Remove the next hop, or set `ignore_routes_with_linkdown` before the route is added."
        case .noSource: "`ip address add ADDRESS/LENGTH dev NAME`"
        case .linkLocalSource: "Find out why neither DHCP nor a router advertisement gave an address."
        case .loopbackSource: "`ip address add ADDRESS/LENGTH dev NAME`"
        case .tentativeSource: "Wait a second or two; if it lasts, the address is in use by another host."
        case .sourceRule: "Find it with `ip rule`; `ip route get DESTINATION from SOURCE` shows what follows."
        case .carrierUnknown: "Declare the interface's kind: `--kind 'tun0=cellular'`; or run with `CAP_NET_ADMIN`."
        case .deviceProbing: "Wait; it takes milliseconds."
        case .deviceUnidentified, .carrierElsewhere: "Declare the interface's kind: `--kind 'eth0=cellular'`."
        default: nil
        }
    }
}
