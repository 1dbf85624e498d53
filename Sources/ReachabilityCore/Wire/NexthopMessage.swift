/// What one `RTM_NEWNEXTHOP` or `RTM_DELNEXTHOP` said (ip-nexthop(8), `include/uapi/linux/nexthop.h`).
public struct NexthopMessage: Sendable, Hashable {
    /// `NHA_ID`.
    public var id: UInt32
    /// `nh_family`: nil for a group or a blackhole of no family.
    public var family: AddressFamily?
    /// `NHA_BLACKHOLE`.
    public var isBlackhole = false
    /// `NHA_OIF`, `NHA_GATEWAY` and `nh_flags`; nil for a group.
    public var leg: RouteLeg?
    /// `NHA_GROUP`: the members and their weights; empty for a single nexthop.
    public var group: [NexthopGroupMember] = []
    /// `NHA_FDB`: for a bridge's forwarding database, not for routes.
    public var isForwardingDatabase = false

    /// Makes a message about one nexthop object.
    public init(id: UInt32) { self.id = id }
}

/// One entry of `NHA_GROUP`: `struct nexthop_grp`.
public struct NexthopGroupMember: Sendable, Hashable {
    /// The member's own id.
    public var id: UInt32
    /// Its weight: the wire's value + 1 (with `weight_high` above it).
    public var weight: UInt16

    /// Makes an entry.
    public init(id: UInt32, weight: UInt16 = 1) {
        self.id = id
        self.weight = weight
    }
}
