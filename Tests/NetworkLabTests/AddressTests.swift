import NetworkLab
import ReachabilityCore
import Testing

@Suite("Addresses of the lab")
struct AddressTests {
    private let lab: LabNamespace
    private var rtnl: Rtnl { lab.rtnl }

    init() throws {
        lab = try LabNamespace()
        try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try lab.setSysctl("net.ipv6.conf.wan0.addr_gen_mode", to: 1)
    }

    @Test("An address of either family is added with its prefix, and removed", arguments: AddressFamily.allCases)
    func addAndDelete(family: AddressFamily) throws {
        let prefix = family == .ipv4 ? "192.0.2.2/24" : "2001:db8::2/64"
        try rtnl.addAddress(prefix, on: "wan0")
        let address = try #require(rtnl.addresses(family, on: "wan0").first)
        #expect("\(address.address)/\(address.prefixLength)" == prefix)
        #expect(address.flags.contains(.permanent))
        try rtnl.deleteAddress(prefix, on: "wan0")
        #expect(try rtnl.addresses(family, on: "wan0").isEmpty)
    }

    @Test("An address has the requested peer, scope, flags and lifetimes")
    func details() throws {
        let local = try #require(IPAddress("192.0.2.2"))
        var message = AddressMessage(index: 10, address: local, prefixLength: 32, scope: .link, flags: .noPrefixRoute)
        message.peer = IPAddress("192.0.2.1")
        message.preferredLifetime = 1_000_000
        message.validLifetime = 2_000_000
        try rtnl.addAddress(message)
        let found = try #require(rtnl.addresses(.ipv4, on: "wan0").first)
        #expect(found.peer == message.peer)
        #expect(found.scope == .link)
        #expect(found.flags.contains(.noPrefixRoute))
        #expect((999_000...1_000_000).contains(try #require(found.preferredLifetime)))
        #expect((1_999_000...2_000_000).contains(try #require(found.validLifetime)))
    }

    @Test("A preferred lifetime of 0 makes an address deprecated, and replacing it makes it preferred again")
    func deprecated() throws {
        try rtnl.addAddress("2001:db8::2/64", on: "wan0", preferred: 0, valid: 1000)
        let found = try #require(rtnl.addresses(.ipv6, on: "wan0").first)
        #expect(found.flags.contains(.deprecated))
        var preferred = found
        preferred.preferredLifetime = 500
        try rtnl.replaceAddress(preferred)
        #expect(try rtnl.addresses(.ipv6, on: "wan0").first?.flags.contains(.deprecated) == false)
    }

    @Test("Without nodad an IPv6 address is tentative until its detection ends, which is announced")
    func duplicateDetection() throws {
        // Without a carrier, the detection does not begin.
        try rtnl.setUp("wan0")
        let events = try LabEvents(in: lab, [.ipv6Addresses])
        try rtnl.addAddress("2001:db8::2/64", on: "wan0", flags: [])
        #expect(try rtnl.addresses(.ipv6, on: "wan0").first?.flags.contains(.tentative) == true)
        try rtnl.setUp("far0")
        try events.wait(for: "the end of the detection") { event in
            guard case .address(let address) = event else { return false }
            return address.index == 10 && !address.flags.contains(.tentative)
        }
    }

    @Test(
        "What is no prefix is refused before it is sent",
        arguments: ["", "192.0.2.2/33", "192.0.2/24", "::/x", "1/2/3"]
    )
    func nonsense(text: String) {
        #expect(throws: LabError("read the prefix '\(text)'", errno: 22)) { try rtnl.addAddress(text, on: "wan0") }
    }
}
