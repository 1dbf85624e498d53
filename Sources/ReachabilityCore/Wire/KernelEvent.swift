/// One netlink message, decoded: everything the rooms behind the decoder know of the kernel.
///
/// An answer to a dump and a notification have the same form; the ``NetlinkHeader`` beside it tells them apart.
public enum KernelEvent: Sendable, Hashable {
    /// `RTM_NEWLINK`.
    case link(LinkMessage)
    /// `RTM_DELLINK`.
    case linkRemoved(LinkMessage)
    /// `RTM_NEWADDR`.
    case address(AddressMessage)
    /// `RTM_DELADDR`.
    case addressRemoved(AddressMessage)
    /// `RTM_NEWROUTE`; the head's flags tell replacement, appending and prepending apart.
    case route(RouteMessage)
    /// `RTM_DELROUTE`.
    case routeRemoved(RouteMessage)
    /// `RTM_NEWRULE`.
    case rule(RuleMessage)
    /// `RTM_DELRULE`.
    case ruleRemoved(RuleMessage)
    /// `RTM_NEWNEXTHOP`.
    case nexthop(NexthopMessage)
    /// `RTM_DELNEXTHOP`.
    case nexthopRemoved(NexthopMessage)
    /// `RTM_NEWNEIGH`.
    case neighbour(NeighbourMessage)
    /// `RTM_DELNEIGH`.
    case neighbourRemoved(NeighbourMessage)
    /// `RTM_NEWNETCONF`.
    case netconf(NetconfMessage)
    /// `RTM_DELNETCONF`.
    case netconfRemoved(NetconfMessage)
    /// `RTM_NEWSTATS`, or the counters of an `RTM_NEWLINK` if ``NetlinkDecoder/readsTraffic`` asks for them.
    case traffic(TrafficMessage)
    /// A uevent of a network interface.
    case uevent(UeventMessage)
    /// A family of generic netlink is there.
    case family(GenericFamily)
    /// A request for the families of generic netlink, with which a recording of interfaces' kinds begins.
    case familiesRequested
    /// What nl80211 said of an interface.
    case wireless(WirelessMessage)
    /// What WireGuard said of a device.
    case wireGuard(WireGuardMessage)
    /// What the team driver said of a team.
    case team(TeamMessage)
    /// What L2TP said of a session or a tunnel.
    case l2tp(L2TPMessage)
    /// `NLMSG_DONE`: the dump has ended, with an errno if it failed (0 if not).
    case done(errno: Int32)
    /// `NLMSG_ERROR`: the request was refused with an errno, or acknowledged with 0.
    case error(errno: Int32)
    /// `NLMSG_OVERRUN`, which the kernel defines and does not send; an overrun is ENOBUFS from recvmsg(2).
    case overrun
    /// A request on its way to the kernel, as nlmon and recordings show it.
    case request(NetlinkRequest)
    /// A message of a type, family or protocol that nothing here asks for.
    case ignored
}

extension KernelEvent {
    /// The netlink family that the message belongs to; what ends or refuses a request may belong to any but the uevents'.
    public var protocolNumber: UInt16 {
        switch self {
        case .uevent: NetlinkDecoder.uevent
        case .family, .familiesRequested, .wireless, .wireGuard, .team, .l2tp: NetlinkDecoder.generic
        default: NetlinkDecoder.route
        }
    }
}

/// What is said of a request that a recording holds: which dump its answers belong to.
public struct NetlinkRequest: Sendable, Hashable {
    /// Which table of the kernel it asks for.
    public var subject: DumpSubject
    /// Whether it asks for a dump (`NLM_F_DUMP`); otherwise for one look-up.
    public var isDump: Bool
    /// Whether it asks for all families (`AF_UNSPEC`), as `ip address` does; the subject then names IPv4.
    public var coversAllFamilies = false
    /// Whether it asks for less than the subject says, as `ip route show dev eth0` does: its answers are not the whole.
    public var hasFurtherFilter = false

    /// Makes a request.
    public init(subject: DumpSubject, isDump: Bool) {
        self.subject = subject
        self.isDump = isDump
    }
}

/// One of the kernel's tables that can be dumped, whole or filtered (strictly: `NETLINK_GET_STRICT_CHK`).
public enum DumpSubject: Sendable, Hashable {
    /// `RTM_GETLINK`.
    case links
    /// `RTM_GETADDR` of a family.
    case addresses(AddressFamily)
    /// `RTM_GETROUTE` of a family, of one table or (nil) of all.
    case routes(AddressFamily, table: RouteTableID?)
    /// `RTM_GETRULE` of a family.
    case rules(AddressFamily)
    /// `RTM_GETNEXTHOP`.
    case nexthops
    /// `RTM_GETNEIGH` of a family, of one interface or (nil) of all.
    case neighbours(AddressFamily, interface: InterfaceIndex?)
    /// `RTM_GETNETCONF` of a family.
    case netconf(AddressFamily)
}
