package import ReachabilityCore

extension ReachabilityReason {
    /// The meaning of the reason, as in `docs/reasons.md`.
    package var meaning: String {
        switch self {
        case .notStarted: "The monitor has not started, or was stopped."
        case .reading: "The kernel's tables are being read for the first time."
        case .netlinkFailed: "Netlink cannot be read. The monitor retries with an increasing delay."
        case .initial: "The first status: a baseline, not a change."
        case .linkAdded: "An interface appeared."
        case .linkRemoved: "An interface was removed, or moved to another network namespace."
        case .linkUp: "An interface was set up."
        case .linkDown: "An interface was set down."
        case .carrierGained: "An interface got its carrier: a cable, an association, a connection of the modem."
        case .carrierLost: "An interface lost its carrier. The kernel may say so up to a second late."
        case .linkChanged:
            "Another property of an interface changed: its name, its kind, its master, the interface below it."
        case .roamed:
            "A Wi-Fi interface of the path roamed to another access point; reported with `watch --roams` only."
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
        case .deviceChanged: "The device information of an interface changed."
        case .tunnelChanged: "The remote address of a tunnel, or the route to it, changed."
        case .confirmMismatch: "The kernel's lookup differed from the model, which was read again and corrected."
        case .overrun: "Messages were lost to an overrun; everything was read again, and the net change is reported."
        case .socketReopened: "The netlink socket failed and was reopened."
        case .resumed: "The machine was suspended and has resumed."
        case .noRoute: "No route covers the whole of the public internet."
        case .unreachable: "A rule or a route says unreachable."
        case .prohibited: "A rule or a route says prohibit."
        case .blackhole: "A rule or a route says blackhole."
        case .loopbackPath: "The preferred route leaves through the loopback interface."
        case .interfaceDown: "The preferred route's interface does not exist, or is down."
        case .noCarrier:
            """
            The preferred route's interface has no carrier, and the kernel still prefers the route, even \
            where another would work.
            """
        case .dormant: "The preferred route's interface waits for an event such as 802.1X."
        case .associating: "The preferred route's Wi-Fi interface is associating with an access point."
        case .accessPoint: "The preferred route leads to the clients of this machine's own access point."
        case .notAllowed: "The path leads through an interface that a requirement excludes."
        case .deadNextHop: "A next hop of a multipath route is unusable; some flows are lost."
        case .tunnelLoop:
            "The route to a tunnel's remote address leads into the tunnel itself; the kernel drops its packets."
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
        case .carrierUnknown: "The interface that carries a tunnel, or the port through which a team sends, is unknown."
        case .deviceProbing: "The device behind the interface is being identified."
        case .deviceUnidentified:
            "The device behind the interface could not be identified; it counts as not cellular."
        case .carrierElsewhere: "The interface that carries this one is in another network namespace."
        }
    }
}

extension ReachabilityReason {
    /// The fix, as in `docs/reasons.md`; nil if there is none.
    ///
    /// `NAME` stands for the interface.
    package var fix: String? {
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
        case .deadNextHop: "Remove the next hop, or set `ignore_routes_with_linkdown` before the route is added."
        case .tunnelLoop:
            """
            Give the remote address a route of its own, `ip route add ENDPOINT via GATEWAY dev NAME`, or the tunnel a \
            fwmark and a rule for it.
            """
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
