/// A decoded netlink message.
///
/// A reply to a dump and a notification have the same form; their ``NetlinkHeader`` distinguishes them.
package enum KernelEvent: Sendable, Hashable {
    /// `RTM_NEWLINK`.
    case link(LinkMessage)
    /// `RTM_DELLINK`.
    case linkRemoved(LinkMessage)
    /// `RTM_NEWADDR`.
    case address(AddressMessage)
    /// `RTM_DELADDR`.
    case addressRemoved(AddressMessage)
    /// `RTM_NEWROUTE`; the header's flags distinguish replacing, appending and prepending.
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
    /// `RTM_NEWNDUSEROPT`.
    case routerOption(RouterOptionMessage)
    /// `RTM_NEWSTATS`, or the counters of an `RTM_NEWLINK` if ``NetlinkDecoder/readsTraffic`` is set.
    case traffic(TrafficMessage)
    /// A uevent of a network interface.
    case uevent(UeventMessage)
    /// The kernel has a family of generic netlink.
    case family(GenericFamily)
    /// A request for the families of generic netlink, with which a recording that holds device probes begins.
    case familiesRequested
    /// An nl80211 message about an interface.
    case wireless(WirelessMessage)
    /// A WireGuard message about a device.
    case wireGuard(WireGuardMessage)
    /// A message of the team driver about a team.
    case team(TeamMessage)
    /// An L2TP message about a session or a tunnel.
    case l2tp(L2TPMessage)
    /// `NLMSG_DONE`: the dump has ended, with an errno if it failed, otherwise 0.
    case done(errno: Int32)
    /// `NLMSG_ERROR`: the request was refused with an errno, or acknowledged with 0.
    case error(errno: Int32)
    /// `NLMSG_OVERRUN`, which the kernel defines but does not send; an overrun is reported by recvmsg(2) as ENOBUFS.
    case overrun
    /// A request to the kernel, as nlmon and recordings show it.
    case request(NetlinkRequest)
    /// A message of a type, family or protocol that is not decoded.
    case ignored
}

extension KernelEvent {
    /// The netlink family of the message; messages that end or refuse a request may belong to any but the uevent family.
    package var protocolNumber: UInt16 {
        switch self {
        case .uevent: NetlinkDecoder.uevent
        case .family, .familiesRequested, .wireless, .wireGuard, .team, .l2tp: NetlinkDecoder.generic
        default: NetlinkDecoder.route
        }
    }
}
