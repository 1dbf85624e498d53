import Testing

@testable import ReachabilityCore

/// The reasons of a change.
struct PathPublisherTests {
    @Test(arguments: [
        ([ReachabilityReason.linkDown, .routeFlushed, .addressRemoved], [ReachabilityReason.linkDown, .routeFlushed]),
        ([.linkRemoved, .addressRemoved], [.linkRemoved]),
        ([.addressRemoved, .linkDown], [.addressRemoved, .linkDown]),
        ([.addressRemoved, .routeFlushed], [.addressRemoved, .routeFlushed]),
        ([.neighbourChanged, .carrierLost], [.carrierLost]),
        ([.carrierLost, .neighbourChanged, .routeFlushed], [.carrierLost, .routeFlushed]),
        ([.neighbourChanged, .routeFlushed], [.neighbourChanged, .routeFlushed]),
        ([.linkChanged, .carrierGained], [.carrierGained]),
        ([.carrierLost, .linkChanged], [.carrierLost]),
        ([.linkChanged, .routeFlushed], [.linkChanged, .routeFlushed]),
    ])
    func `reasons that follow from an interface's loss or carrier are omitted`(
        noted: [ReachabilityReason],
        published: [ReachabilityReason]
    ) throws {
        var publisher = PathPublisher()
        _ = publisher.offer(.init(status: .wifi, reasons: []), at: .init(nanoseconds: 0))
        for reason in noted { publisher.note([reason]) }
        let change = publisher.offer(.init(status: .notReachable, reasons: [.noRoute]), at: .init(nanoseconds: 1))
        #expect(try #require(change).reasons == published)
    }

    @Test func `an event while a change settles is no reason unless the path changes again`() throws {
        var publisher = PathPublisher(settle: .seconds(1))
        _ = publisher.offer(.init(status: .wifi), at: .init(nanoseconds: 0))
        publisher.note([.routeRemoved])
        _ = publisher.offer(.init(status: .cellular), at: .init(nanoseconds: 1))
        publisher.note([.ruleChanged])
        _ = publisher.offer(.init(status: .cellular), at: .init(nanoseconds: 2))
        let first = publisher.due(at: .init(nanoseconds: 2_000_000_000))
        #expect(try #require(first).reasons == [.routeRemoved])
        for (status, reason) in [(.wifi, .addressAdded), (.notReachable, .addressRemoved)]
            as [(ReachabilityStatus, ReachabilityReason)]
        {
            publisher.note([reason])
            _ = publisher.offer(.init(status: status), at: .init(nanoseconds: 3_000_000_000))
        }
        let second = publisher.due(at: .init(nanoseconds: 5_000_000_000))
        #expect(try #require(second).reasons == [.addressAdded, .addressRemoved])
    }
}
