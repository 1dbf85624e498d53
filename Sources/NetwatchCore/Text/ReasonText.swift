public import ReachabilityCore

extension Reason {
    /// The meaning of the reason, as in `docs/reasons.md`.
    public var meaning: String {
        switch self {
        case .notStarted: "The monitor was not started, or was stopped."
        case .reading: "The kernel's tables are being read for the first time."
        case .netlinkFailed: "Netlink can't be read. The monitor goes on trying, less and less often."
        case .initial: "The first reading: a baseline, not a change."
        case .linkAdded: "An interface appeared."
        case .linkRemoved: "An interface was removed, or moved to another network namespace."
        case .linkUp: "An interface was set up."
        case .linkDown: "An interface was set down."
        case .carrierGained: "An interface got its carrier: a cable, an association, a connection of the modem."
        case .carrierLost: "An interface lost its carrier. The kernel may say so up to a second late."
        case .linkChanged:
            """
            Something else about an interface changed: its name, its kind, its master, the interface below \
            it.
            """
        case .roamed:
            "A WiFi interface of the path went over to another access point; only `watch --roams` tells."
        case .addressAdded: "An address was added, or became usable."
        case .addressRemoved: "An address was removed."
        case .addressChanged: "An address's flags changed: tentative, deprecated, duplicate."
        case .routeAdded: "A default-like route was added."
        case .routeRemoved: "A default-like route was removed."
        case .routeReplaced: "A default-like route was replaced by another."
        case .routeFlushed:
            """
            The kernel removed routes without a message, as it does when a link goes down or an address is \
            removed.
            """
        case .routeExpired: "A route's lifetime ended."
        case .ruleChanged: "A rule was added or removed."
        case .nexthopChanged: "A nexthop object was added, replaced or removed."
        case .neighbourChanged: "The state of a gateway's neighbour entry changed."
        case .settingChanged: "A setting of the kernel changed: `forwarding`, `ignore_routes_with_linkdown`."
        case .deviceChanged: "What is known of an interface's device changed."
        case .tunnelChanged: "The endpoint of a tunnel, or the route to it, changed."
        case .confirmMismatch: "The kernel's lookup differed from the model, which was read again and corrected."
        case .overrun: "Messages were lost to an overrun; everything was read again, and the net difference is told."
        case .socketReopened: "The netlink socket failed and was opened again."
        case .resumed: "The machine was suspended and has resumed."
        case .noRoute: "No route covers the whole of the public internet."
        case .unreachable: "A rule or a route says unreachable."
        case .prohibited: "A rule or a route says prohibit."
        case .blackhole: "A rule or a route says blackhole."
        case .loopbackPath: "The preferred route leaves through the loopback interface."
        case .interfaceDown: "The preferred route's interface does not exist in the model, or is not up."
        case .noCarrier:
            """
            The preferred route's interface has no carrier, and the kernel still prefers the route, even \
            where another would work.
            """
        case .dormant: "The preferred route's interface waits for an event such as 802.1X."
        case .associating: "The preferred route's WiFi interface is being associated with an access point."
        case .notAllowed: "The path leads through an interface that a requirement excludes."
        case .deadLeg: "A leg of a multipath route can't carry; some flows are lost."
        case .noSource: "There is no source address for the path."
        case .linkLocalSource: "The only source address is link-local."
        case .loopbackSource: "The only source address is a loopback address."
        case .tentativeSource: "The only source address is tentative: duplicate address detection has not ended."
        case .sourceRule: "A rule on the source address sends the packet elsewhere."
        case .coveredBySpecificRoute:
            """
            A route more specific than the default routes carries the probe address, as on a router with a \
            full table.
            """
        case .carrierUnknown: "What carries a tunnel can't be told."
        case .deviceProbing: "What device is behind the interface is being found out."
        case .deviceUnidentified:
            "What device is behind the interface could not be found out; it counts as not cellular."
        case .carrierElsewhere: "The interface that carries this one is in another network namespace."
        }
    }
}

extension Reason {
    /// The fix, as in `docs/reasons.md`; nil if there is none.
    ///
    /// `NAME` stands for the interface.
    public var cure: String? {
        switch self {
        case .reading: "Wait; it takes milliseconds."
        case .netlinkFailed:
            """
            Look for a sandbox that forbids netlink sockets (systemd: `RestrictAddressFamilies=AF_NETLINK` \
            is missing), and for the limit of open files.
            """
        case .linkDown: "`ip link set dev NAME up`"
        case .carrierLost: "Check the cable, the access point or the modem."
        case .routeFlushed: "Add the route again once the link or the address is back."
        case .routeExpired: "See whether the router still sends advertisements."
        case .overrun: "Raise `net.core.rmem_max` if it happens often."
        case .noRoute: "`ip route add default via GATEWAY dev NAME`"
        case .unreachable: "Find it with `ip rule` and `ip route show table all type unreachable`."
        case .prohibited: "Find it with `ip rule` and `ip route show table all type prohibit`."
        case .blackhole: "Find it with `ip rule` and `ip route show table all type blackhole`."
        case .loopbackPath: "Remove that route."
        case .interfaceDown: "`ip link set dev NAME up`"
        case .noCarrier:
            """
            Restore the carrier; or let the kernel pass over such routes: `sysctl \
            net.ipv4.conf.all.ignore_routes_with_linkdown=1 net.ipv6.conf.all.ignore_routes_with_linkdown=1`.
            """
        case .dormant: "Check the credentials."
        case .associating: "Wait a second or two; if it lasts, check the passphrase."
        case .notAllowed: "Wait for another path; or allow more, if this one may be used."
        case .deadLeg: "Remove the leg; or set `ignore_routes_with_linkdown` before the route is added."
        case .noSource: "`ip address add ADDRESS/LENGTH dev NAME`"
        case .linkLocalSource: "Find out why neither DHCP nor a router advertisement gave an address."
        case .loopbackSource: "`ip address add ADDRESS/LENGTH dev NAME`"
        case .tentativeSource: "Wait a second or two; if it lasts, the address is in use by another host."
        case .sourceRule: "Find it with `ip rule`; `ip route get DESTINATION from SOURCE` shows what follows."
        case .carrierUnknown: "Name the tunnel's kind: `--kind 'tun0=cellular'`."
        case .deviceProbing: "Wait; it takes milliseconds."
        case .deviceUnidentified, .carrierElsewhere: "Name the interface's kind: `--kind 'eth0=cellular'`."
        default: nil
        }
    }
}
