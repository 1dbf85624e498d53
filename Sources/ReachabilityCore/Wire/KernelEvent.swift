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
        case .family, .familiesRequested, .wireless, .wireGuard: NetlinkDecoder.generic
        default: NetlinkDecoder.route
        }
    }
}
