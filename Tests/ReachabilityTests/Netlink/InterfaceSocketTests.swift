import LinuxSystem
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Reading single interfaces of the kernel's.
@Suite struct InterfaceSocketTests {
    @Test func `one interface is read, with its own addresses in the kernel's order`() throws {
        let lab = try LabNamespace()
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("wan1", index: 11, address: "198.51.100.2/24")
        try lab.rtnl.addAddress("203.0.113.9/24", on: "wan0")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wan0")
        try lab.rtnl.addAddress("2001:db8:1::2/64", on: "wan1")
        let events = try lab.run { try InterfaceSocket(in: .current).read(10) }
        guard case .link(let link) = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(link.name == "wan0")
        #expect(link.kind == "veth")
        #expect(!link.isPartial)
        let addresses = events.dropFirst().map { event in
            if case .address(let message) = event { "\(message.address)" } else { "\(event)" }
        }
        #expect(addresses.prefix(3) == ["192.0.2.2", "203.0.113.9", "2001:db8::2"])
        #expect(addresses.count == 4)
        #expect(addresses.last?.hasPrefix("fe80::") == true)
    }

    @Test func `an interface that is not there is an error`() throws {
        let lab = try LabNamespace()
        let error = try lab.run {
            let socket = try InterfaceSocket(in: .current)
            return #expect(throws: NetlinkError.self) { try socket.read(4_711) }
        }
        #expect(error?.errno == 19)
    }
}
