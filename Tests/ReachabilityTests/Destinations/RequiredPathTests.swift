import Testing

@testable import Reachability

@Suite struct RequiredPathTests {
    private let modem = NetworkInterface(index: 3, name: "wwan0", kind: .other, kindSource: .plain)

    /// The path of a socket that may not use a modem, on a machine whose only interface is ruled out for a reason.
    private func path(_ reason: ReachabilityReason) throws -> DestinationPath {
        let unbound = DestinationPath(
            destination: try #require(IPAddress("203.0.113.7")),
            status: .wifi,
            interface: modem,
            carriers: [modem],
            outcome: .refused(errno: LookupErrno.networkUnreachable, .noRoute)
        )
        let ruledOut = [RuledOutInterface(modem, reason)]
        return RequiredPath(requirement: .notCellular, unbound: unbound, bound: [], ruledOut: ruledOut).choice
    }

    @Test func `it is unknown whether a path meets a requirement while its device is being identified`() throws {
        let path = try path(.deviceProbing)
        #expect(path.status == .unknown)
        #expect(path.interface == nil)
        #expect(path.reasons == [.deviceProbing])
    }

    @Test func `a path that is ruled out for another reason is none`() throws {
        let path = try path(.noCarrier)
        #expect(path.status == .notReachable)
        #expect(path.reasons == [.noCarrier])
    }
}
