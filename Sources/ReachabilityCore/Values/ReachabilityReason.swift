/// Why a status changed, or why a path is unusable or degraded.
///
/// The set is closed. The raw values are printed by the tool and listed in the event schema.
public enum ReachabilityReason: String, Sendable, Hashable, CaseIterable {
    // Why the status is unknown.
    /// The monitor was not started, or was stopped.
    case notStarted = "monitor.notStarted"
    /// The kernel's tables are being dumped for the first time.
    case reading = "monitor.reading"
    /// Netlink cannot be read; the monitor keeps trying.
    case netlinkFailed = "netlink.failed"

    // What changed.
    /// The first status: a baseline, not a change.
    case initial = "monitor.initial"
    /// An interface appeared.
    case linkAdded = "link.added"
    /// An interface was removed or moved to another network namespace.
    case linkRemoved = "link.removed"
    /// An interface was enabled.
    case linkUp = "link.up"
    /// An interface was disabled.
    case linkDown = "link.down"
    /// An interface gained its carrier.
    case carrierGained = "link.carrier.gained"
    /// An interface lost its carrier.
    case carrierLost = "link.carrier.lost"
    /// Another property of an interface changed: its name, kind, master or lower interface.
    case linkChanged = "link.changed"
    /// A Wi-Fi interface roamed to another access point; the status did not change.
    case roamed = "wifi.roamed"
    /// An address was added or became usable.
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
    /// A route expired.
    case routeExpired = "route.expired"
    /// A rule was added or removed.
    case ruleChanged = "rule.changed"
    /// A nexthop object was added, replaced or removed.
    case nexthopChanged = "nexthop.changed"
    /// The state of a gateway's neighbour entry changed.
    case neighbourChanged = "neighbour.changed"
    /// A kernel setting changed: forwarding or `ignore_routes_with_linkdown`.
    case settingChanged = "setting.changed"
    /// The information about an interface's device changed.
    case deviceChanged = "device.changed"
    /// A tunnel's remote address, or the route to it, changed.
    case tunnelChanged = "tunnel.changed"
    /// The kernel's lookups differed from the model; the tables are read again.
    case confirmMismatch = "confirm.mismatch"
    /// Messages were lost in an overrun; all tables are read again.
    case overrun = "resync.overrun"
    /// The netlink socket failed and was reopened.
    case socketReopened = "resync.reopened"
    /// The machine resumed from suspend.
    case resumed = "suspend.resumed"

    // Why a path is unusable or degraded.
    /// No route covers the public internet, or routes cover only a part of it.
    case noRoute = "path.noRoute"
    /// A rule or a route is of type unreachable.
    case unreachable = "path.unreachable"
    /// A rule or a route is of type prohibit.
    case prohibited = "path.prohibited"
    /// A rule or a route is of type blackhole.
    case blackhole = "path.blackhole"
    /// The preferred route uses the loopback interface.
    case loopbackPath = "path.loopback"
    /// The preferred route's interface does not exist or is down.
    case interfaceDown = "path.interfaceDown"
    /// The preferred route's interface has no carrier; the kernel still prefers the route.
    case noCarrier = "path.noCarrier"
    /// The preferred route's interface waits for an event such as 802.1X authentication.
    case dormant = "path.dormant"
    /// The preferred route's interface is a Wi-Fi interface that is associating with an access point.
    case associating = "path.associating"
    /// The preferred route leads to the clients of this machine's own access point.
    case accessPoint = "path.accessPoint"
    /// The path uses an interface that a requirement excludes.
    case notAllowed = "path.notAllowed"
    /// A next hop of a multipath route is unusable; some flows fail.
    case deadNextHop = "path.deadLeg"
    /// The route to a tunnel's remote address leads into the tunnel itself; the kernel drops its packets.
    case tunnelLoop = "path.tunnelLoop"
    /// The path has no source address.
    case noSource = "source.none"
    /// The only source address is link-local.
    case linkLocalSource = "source.linkLocal"
    /// The only source address is a loopback address.
    case loopbackSource = "source.loopback"
    /// The only source address is tentative.
    case tentativeSource = "source.tentative"
    /// A rule that matches the source address selects another route.
    case sourceRule = "source.rule"
    /// A route more specific than the default routes covers a probe address, as on a router with a full table.
    case coveredBySpecificRoute = "path.specificRoute"
    /// The interface that carries a tunnel, or the port through which a team sends, is unknown.
    case carrierUnknown = "carrier.unknown"
    /// The device behind the interface is being identified.
    case deviceProbing = "device.probing"
    /// The device behind the interface could not be identified; it counts as not cellular.
    case deviceUnidentified = "device.unidentified"
    /// The interface that carries this one is in another network namespace.
    case carrierElsewhere = "carrier.otherNamespace"
}
