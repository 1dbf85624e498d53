/// The kernel's routing decision, made from the model: rules, tables, routes, legs and source addresses.
///
/// What `ip_route_output_key` and `ip6_route_output` of Linux 6.18 would answer, without asking. Routes longer than
/// ``RouteMessage/longestDefaultLikePrefix`` are not part of the model: the probe addresses are chosen so that they
/// hardly ever lie in one. Devices are taken in the order of their indexes where the kernel takes them in that of
/// their registration, which netlink does not tell.
public enum RouteLookup {
    /// One look-up as `RTM_GETROUTE` makes it: the flow as it is, and once only.
    ///
    /// - Parameters:
    ///   - flow: What is looked up.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which routes' expiries are judged.
    /// - Returns: The route that the kernel would select, or the errno with which it would refuse.
    public static func look(up flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        var walk = RuleWalk(flow, LookupModel(snapshot, at: now))
        return walk.run()
    }

    /// The look-ups that connect(2) of an unbound UDP socket makes, and their final outcome.
    ///
    /// IPv4 looks up again with the source that the first look-up selected, so that rules on the source see it; IPv6
    /// selects the source by itself where the first look-up failed, and looks up again with it.
    ///
    /// - Parameters:
    ///   - flow: What is looked up, its source unspecified.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which routes' expiries are judged.
    /// - Returns: What the socket would use, or the errno that connect(2) would give.
    public static func connect(_ flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        Connection.run(flow, LookupModel(snapshot, at: now)).outcome
    }

    /// The source address that the kernel selects for an IPv6 destination when no route says through which interface.
    ///
    /// With it the kernel looks up again after a look-up without a source has failed.
    ///
    /// - Parameters:
    ///   - destination: An IPv6 address.
    ///   - snapshot: The model of the machine.
    /// - Returns: The address, or nil if the machine has none that may be used.
    public static func ipv6Source(to destination: IPAddress, in snapshot: NetworkSnapshot) -> IPAddress? {
        LookupModel(snapshot, at: .init(nanoseconds: 0)).ipv6Source(to: destination, through: nil)
    }
}
