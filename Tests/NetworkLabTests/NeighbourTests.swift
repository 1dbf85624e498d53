import NetworkLab
import ReachabilityCore
import Testing

@Suite("Neighbours of the lab")
struct NeighbourTests {
    @Test(
        "A neighbour has the state that it was given, until it is removed",
        arguments: [NeighbourState.reachable, .stale, .failed, .permanent, .noARP],
        ["192.0.2.1", "2001:db8::1"]
    )
    func states(state: NeighbourState, text: String) throws {
        let lab = try LabNamespace()
        try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try lab.rtnl.setUp("wan0", "far0")
        let address = try #require(IPAddress(text))
        try lab.rtnl.setNeighbour(text, on: "wan0", state: state)
        let expected = KernelEvent.neighbour(.init(index: 10, address: address, state: state))
        let subject = DumpSubject.neighbours(address.family, interface: 10)
        if state == .noARP {
            // A dump leaves these out; the announcement has them.
            let events = try LabEvents(in: lab, [.neighbours])
            try lab.rtnl.setNeighbour(text, on: "wan0", state: .permanent)
            try lab.rtnl.setNeighbour(text, on: "wan0", state: state)
            #expect(try events.pending().contains(expected))
        } else {
            #expect(try lab.rtnl.events(of: subject).contains(expected))
        }
        try lab.rtnl.deleteNeighbour(text, on: "wan0")
        #expect(try !lab.rtnl.events(of: subject).contains(expected))
    }
}
