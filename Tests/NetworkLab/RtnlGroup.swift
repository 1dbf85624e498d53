/// `RTNLGRP_*`: the groups to which the kernel announces changes (rtnetlink(7)).
package enum RtnlGroup: Int32, Sendable, CaseIterable {
    /// `RTNLGRP_LINK`.
    case links = 1
    /// `RTNLGRP_NEIGH`.
    case neighbours = 3
    /// `RTNLGRP_IPV4_IFADDR`.
    case ipv4Addresses = 5
    /// `RTNLGRP_IPV4_ROUTE`.
    case ipv4Routes = 7
    /// `RTNLGRP_IPV4_RULE`.
    case ipv4Rules = 8
    /// `RTNLGRP_IPV6_IFADDR`.
    case ipv6Addresses = 9
    /// `RTNLGRP_IPV6_ROUTE`.
    case ipv6Routes = 11
    /// `RTNLGRP_IPV6_RULE`.
    case ipv6Rules = 19
    /// `RTNLGRP_IPV4_NETCONF`.
    case ipv4Netconf = 24
    /// `RTNLGRP_IPV6_NETCONF`.
    case ipv6Netconf = 25
    /// `RTNLGRP_NEXTHOP`.
    case nexthops = 32
}
