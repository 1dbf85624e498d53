import ReachabilityCore

extension PathRequirement {
    /// Whether a program that binds to nothing keeps to the requirement: it takes the default path of either family.
    func allows(_ path: NetworkPath) -> Bool {
        [path.ipv4, path.ipv6].compactMap(\.self).allSatisfy {
            allows($0.interface, over: $0.carriers, isExpensive: $0.isExpensive)
        }
    }
}
