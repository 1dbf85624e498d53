/// The closed set of reasons: why a state changed, and why a path is not usable or not whole.
///
/// The raw values are what the tool prints and what the event schema lists.
public enum Reason: String, Sendable, Hashable, CaseIterable {
    // Why the monitor can't tell.
    /// The monitor was not started, or was stopped.
    case notStarted = "monitor.notStarted"
    /// The kernel's tables are being read for the first time.
    case reading = "monitor.reading"
    /// Netlink can't be read; the monitor goes on trying.
    case netlinkFailed = "netlink.failed"

    // What changed.
    /// The first reading: a baseline, not a change.
    case initial = "monitor.initial"
    /// An interface appeared.
    case linkAdded = "link.added"
    /// An interface was removed, or went to another network namespace.
    case linkRemoved = "link.removed"
    /// An interface was set up.
    case linkUp = "link.up"
    /// An interface was set down.
    case linkDown = "link.down"
    /// An interface got its carrier.
    case carrierGained = "link.carrier.gained"
    /// An interface lost its carrier.
    case carrierLost = "link.carrier.lost"
    /// Something else about an interface changed: its name, its kind, its master, the interface below it.
    case linkChanged = "link.changed"
    /// A WiFi interface went over to another access point, without a change of the state.
    case roamed = "wifi.roamed"
    /// An address was added, or became usable.
    case addressAdded = "address.added"
    /// An address was removed.
    case addressRemoved = "address.removed"
    /// An address's flags changed: tentative, deprecated, duplicate.
    case addressChanged = "address.changed"
    /// A default-like route was added.
    case routeAdded = "route.added"
    /// A default-like route was removed.
    case routeRemoved = "route.removed"
    /// A default-like route was replaced by another.
    case routeReplaced = "route.replaced"
    /// The kernel removed routes without a message, as it does when a link goes down or an address is removed.
    case routeFlushed = "route.flushed"
    /// A route's lifetime ended.
    case routeExpired = "route.expired"
    /// A rule was added or removed.
    case ruleChanged = "rule.changed"
    /// A nexthop object was added, replaced or removed.
    case nexthopChanged = "nexthop.changed"
    /// The state of a gateway's neighbour entry changed.
    case neighbourChanged = "neighbour.changed"
    /// A setting of the kernel changed: forwarding, `ignore_routes_with_linkdown`.
    case settingChanged = "setting.changed"
    /// What is known of an interface's device changed.
    case deviceChanged = "device.changed"
    /// A tunnel's other end, or the way to it, is another.
    case tunnelChanged = "tunnel.changed"
    /// The kernel's answer differed from the model, which was read again.
    case confirmMismatch = "confirm.mismatch"
    /// Messages were lost to an overrun; everything was read again.
    case overrun = "resync.overrun"
    /// The netlink socket failed and was opened again.
    case socketReopened = "resync.reopened"
    /// The machine was suspended and has resumed.
    case resumed = "suspend.resumed"

    // Why a path is not usable, or not whole.
    /// No route covers the whole of the public internet.
    case noRoute = "path.noRoute"
    /// A rule or a route says unreachable.
    case unreachable = "path.unreachable"
    /// A rule or a route says prohibit.
    case prohibited = "path.prohibited"
    /// A rule or a route says blackhole.
    case blackhole = "path.blackhole"
    /// The preferred route leaves through the loopback interface.
    case loopbackPath = "path.loopback"
    /// The preferred route's interface does not exist in the model, or is not up.
    case interfaceDown = "path.interfaceDown"
    /// The preferred route's interface has no carrier; the kernel still prefers the route.
    case noCarrier = "path.noCarrier"
    /// The preferred route's interface waits for an event such as 802.1X.
    case dormant = "path.dormant"
    /// The preferred route's interface is a WiFi one that is being associated with an access point.
    case associating = "path.associating"
    /// The preferred route leads to the clients of this machine's own access point.
    case accessPoint = "path.accessPoint"
    /// The path leads through an interface that a requirement excludes.
    case notAllowed = "path.notAllowed"
    /// A leg of a multipath route can't carry; some flows are lost.
    case deadLeg = "path.deadLeg"
    /// The route to a tunnel's other end leads into the tunnel itself; the kernel drops what it should carry.
    case tunnelLoop = "path.tunnelLoop"
    /// There is no source address for the path.
    case noSource = "source.none"
    /// The only source address is link-local.
    case linkLocalSource = "source.linkLocal"
    /// The only source address is a loopback address.
    case loopbackSource = "source.loopback"
    /// The only source address is tentative.
    case tentativeSource = "source.tentative"
    /// A rule on the source address sends the packet elsewhere.
    case sourceRule = "source.rule"
    /// A route more specific than the default routes carries the probe address, as on a router with a full table.
    case coveredBySpecificRoute = "path.specificRoute"
    /// What carries a tunnel, or by which port a team sends, can't be told.
    case carrierUnknown = "carrier.unknown"
    /// What device is behind the interface is being found out.
    case deviceProbing = "device.probing"
    /// What device is behind the interface could not be found out; it counts as not cellular.
    case deviceUnidentified = "device.unidentified"
    /// The interface that carries this one is in another network namespace.
    case carrierElsewhere = "carrier.otherNamespace"
}
