import Testing

@testable import ReachabilityCore

/// RFC 6724's rules, one pair of addresses each.
struct IPv6SourceSelectionTests {
    /// One rule: the address that wins, the one that loses, and their interfaces.
    struct Contest: Sendable, CustomTestStringConvertible {
        var rule: String
        var winner: String
        var loser: String
        var winnerFlags: AddressFlags = []
        var loserFlags: AddressFlags = []
        var loserInterface: InterfaceIndex = 2
        var alter: @Sendable (inout Link) -> Void = { _ in }
        var testDescription: String { rule }
    }

    static let contests: [Contest] = [
        .init(rule: "the destination itself", winner: "2d00::1/128", loser: "2d00::2/128"),
        .init(rule: "global rather than link-local", winner: "2001:db8::2/64", loser: "fe80::2/64"),
        .init(rule: "site rather than link-local", winner: "fec0::2/64", loser: "fe80::2/64"),
        .init(rule: "global rather than site", winner: "2001:db8::2/64", loser: "fec0::2/64"),
        .init(rule: "not deprecated", winner: "2001:db8::2/64", loser: "2d00::2/64", loserFlags: .deprecated),
        .init(rule: "not optimistic", winner: "2001:db8::2/64", loser: "2d00::2/64", loserFlags: .optimistic),
        .init(
            rule: "optimistic where that is allowed",
            winner: "2d00::2/64",
            loser: "2001:db8::2/64",
            winnerFlags: .optimistic
        ) { $0.usesOptimisticAddresses = true },
        .init(rule: "on the egress interface", winner: "2001:db8::2/64", loser: "2d00::2/64", loserInterface: 3),
        .init(rule: "label of ULA", winner: "2001:db8::2/64", loser: "fd00::2/64"),
        .init(rule: "label of 6to4", winner: "2001:db8::2/64", loser: "2002::2/64"),
        .init(rule: "label of Teredo", winner: "2001:db8::2/64", loser: "2001::2/64"),
        .init(rule: "label of 6bone", winner: "2001:db8::2/64", loser: "3ffe::2/64"),
        .init(rule: "public", winner: "2001:db8::2/64", loser: "2d00::2/64", loserFlags: .temporary),
        .init(
            rule: "temporary where preferred",
            winner: "2001:db8::2/64",
            loser: "2d00::2/64",
            winnerFlags: .temporary
        ) { $0.prefersTemporaryAddresses = true },
        .init(rule: "the longer common prefix", winner: "2d00:db8::2/64", loser: "2001:db8::2/64"),
        .init(rule: "no further than the prefix", winner: "2d00:1::2/64", loser: "2d00::2/8"),
    ]

    @Test("The better address wins in either order", arguments: contests, [true, false])
    func wins(_ contest: Contest, winnerFirst: Bool) {
        var machine = Machine()
        machine.link(2, "eth0", contest.alter)
        machine.link(3, "eth1")
        machine.route("::/0", via: "fe80::1", on: 2)
        if winnerFirst { machine.address(2, contest.winner, contest.winnerFlags) }
        machine.address(contest.loserInterface, contest.loser, contest.loserFlags)
        if !winnerFirst { machine.address(2, contest.winner, contest.winnerFlags) }
        #expect(machine.lookup(.ipv6).source == String(contest.winner.prefix { $0 != "/" }))
    }

    @Test("Tentative addresses are not used, unless optimistic")
    func tentative() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.route("::/0", via: "fe80::1", on: 2)
        machine.address(2, "2001:db8::2/64", .tentative)
        machine.address(2, "fe80::2/64")
        #expect(machine.lookup(.ipv6).source == "fe80::2")
        machine.address(2, "2001:db8::3/64", [.tentative, .optimistic])
        #expect(machine.lookup(.ipv6).source == "2001:db8::3")
    }

    @Test("An interface with use_oif_addrs_only uses no other interface's address")
    func ownOnly() {
        var machine = Machine()
        machine.link(2, "eth0") { $0.usesOwnAddressesOnly = true }
        machine.link(3, "eth1")
        machine.address(3, "2001:db8::3/64")
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(machine.lookup(.ipv6).source == nil)
        machine.alter(2) { $0.usesOwnAddressesOnly = false }
        #expect(machine.lookup(.ipv6).source == "2001:db8::3")
    }

    @Test("Addresses of another VRF are not used")
    func domains() {
        var machine = Machine()
        machine.link(2, "eth0") { $0.masterIndex = 9 }
        machine.link(3, "eth1")
        machine.link(9, "red") { link in
            link.kind = "vrf"
            link.vrfTable = 100
        }
        machine.address(3, "2001:db8::3/64")
        machine.address(3, "192.0.2.3/24")
        machine.route("::/0", via: "fe80::1", on: 2)
        machine.route(on: 2)
        #expect(machine.lookup(.ipv6).source == nil)
        #expect(machine.lookup().source == nil)
        machine.address(9, "2001:db8::9/64")
        machine.address(9, "192.0.2.9/32")
        #expect(machine.lookup(.ipv6).source == "2001:db8::9")
        #expect(machine.lookup().source == "192.0.2.9")
    }
}
