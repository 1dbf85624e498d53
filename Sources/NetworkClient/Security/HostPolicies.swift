/// Which policy counts for which host.
struct HostPolicies: Sendable {
    private let standard: PreparedPolicy
    private let byHost: [String: PreparedPolicy]

    init(_ options: TLSOptions) throws(HTTPError) {
        standard = try PreparedPolicy(options.policy, of: "the security policy")
        var byHost: [String: PreparedPolicy] = [:]
        for (pattern, policy) in options.policiesByHost {
            let key = try Self.key(for: pattern)
            byHost[key] = try PreparedPolicy(policy, of: "the security policy for \(pattern)")
        }
        self.byHost = byHost
    }

    /// The host's own policy, that of a wildcard in place of its first label, or the one for all.
    func policy(for name: ServerName) -> PreparedPolicy {
        if let own = byHost[name.text] { return own }
        guard let dot = name.hostName?.firstIndex(of: "."), let rest = name.hostName?[dot...] else { return standard }
        return byHost["*" + rest] ?? standard
    }

    /// How a pattern is looked up; throws if it can match nothing, or not what it seems to.
    private static func key(for pattern: String) throws(HTTPError) -> String {
        let isWildcard = pattern.hasPrefix("*.")
        let name = ServerName(isWildcard ? String(pattern.dropFirst(2)) : pattern)
        let isName = !name.text.isEmpty && name.text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2A }
        guard isName, !isWildcard || name.address == nil else {
            throw HTTPError(
                .invalidConfiguration,
                .neverSent,
                "\"\(pattern)\" names no host for a security policy: "
                    + "give a name in ASCII (xn--...), an address, or *. and a name"
            )
        }
        return isWildcard ? "*." + name.text : name.text
    }
}
