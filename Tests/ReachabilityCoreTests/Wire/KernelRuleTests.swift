import NetworkLab
import ReachabilityCore
import Testing

/// Rule selectors that ip(8) does not know yet: the encoder writes them, the kernel keeps them.
struct KernelRuleTests {
    @Test(arguments: AddressFamily.allCases)
    func `selectors of newer kernels are encoded and decoded`(family: AddressFamily) throws {
        let lab = try LabNamespace()
        var taken: Set<UInt32> = []
        for (priority, change) in Self.changes(family) {
            var rule = RuleMessage(family: family)
            rule.priority = priority
            rule.table = .init(rawValue: 5)
            rule.origin = 4
            change(&rule)
            guard try add(rule, in: lab) else { continue }
            let found = try KernelSocket(in: lab).dump(.rules(family)).compactMap(\.ruleMessage)
            #expect(found.first { $0.priority == priority } == rule)
            taken.insert(priority)
        }
        // A kernel refuses what it does not know: FRA_DSCP came with Linux 6.13, the masks with 6.15.
        #expect(taken.contains(204))
        #expect(taken.count == 1 || taken.isSuperset(of: [205, 207]), "\(taken)")
    }

    private static func changes(_ family: AddressFamily) -> [(UInt32, (inout RuleMessage) -> Void)] {
        let common: [(UInt32, (inout RuleMessage) -> Void)] = [
            (201, { $0.sourcePorts = .init(first: 80, last: 80, mask: 0xFFFF) }),
            (202, { $0.sourcePorts = .init(first: 0x10, last: 0x10, mask: 0xF0) }),
            (203, { $0.destinationPorts = .init(first: 0x100, last: 0x100, mask: 0xFF00) }),
            (204, { $0.destinationPorts = .init(first: 1_000, last: 2_000) }),
            (205, { $0.dscp = .init(value: 10, mask: 0x3F) }),
            (206, { $0.dscp = .init(value: 8, mask: 0x38) }),
            (207, { $0.dscp = .init(value: 0, mask: 0x3F) }),
        ]
        guard family == .ipv6 else { return common }
        return common + [(208, { $0.flowLabel = .init(value: 0x12340, mask: 0xFFFF0) })]
    }

    /// Returns whether the kernel accepted the rule; otherwise it did not know the attribute.
    private func add(_ rule: RuleMessage, in lab: LabNamespace) throws -> Bool {
        let flags: NetlinkFlags = [.request, .acknowledge, .create, .exclusive]
        let bytes = NetlinkEncoder().encode(.rule(rule), flags: flags, sequence: 5)
        let reply = try KernelSocket(in: lab, strict: true).events(for: bytes)
        switch reply {
        case [.error(errno: 0)]: return true
        case [.error(errno: 22)], [.error(errno: 95)]: return false
        default: throw Unexpected(event: reply.first)
        }
    }
}
