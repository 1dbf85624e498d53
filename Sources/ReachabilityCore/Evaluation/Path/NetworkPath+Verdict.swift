extension NetworkPath {
    /// The verdict over both families: reachable if either is usable; metered if either path may be.
    init(_ ipv4: FamilyEvaluation, _ ipv6: FamilyEvaluation) {
        self.init(
            status: Self.status(ipv4.path?.status, ipv6.path?.status),
            interface: ipv4.path?.interface ?? ipv6.path?.interface,
            carriers: ipv4.path?.carriers ?? ipv6.path?.carriers ?? [],
            ipv4: ipv4.path,
            ipv6: ipv6.path,
            reasons: Self.reasons(ipv4, ipv6),
            isExpensive: ipv4.path?.isExpensive ?? false || ipv6.path?.isExpensive ?? false,
            isConstrained: ipv4.path?.isConstrained ?? false || ipv6.path?.isConstrained ?? false
        )
    }

    /// The worse of the usable families' states: cellular if either is.
    private static func status(
        _ ipv4: ReachabilityStatus?,
        _ ipv6: ReachabilityStatus?
    ) -> ReachabilityStatus {
        guard let one = ipv4 ?? ipv6 else { return .notReachable }
        guard let other = ipv6 else { return one }
        return other.rawValue < one.rawValue ? other : one
    }

    /// What is wrong with the families that have a path; where none has, why not.
    ///
    /// A machine that has only one family is whole: why it lacks the other is for the family's own evaluation to tell.
    private static func reasons(_ ipv4: FamilyEvaluation, _ ipv6: FamilyEvaluation) -> [Reason] {
        let isReachable = ipv4.path != nil || ipv6.path != nil
        var reasons = isReachable && ipv4.path == nil ? [] : ipv4.reasons
        guard !isReachable || ipv6.path != nil else { return reasons }
        for reason in ipv6.reasons where !reasons.contains(reason) { reasons.append(reason) }
        return reasons
    }
}
