import Testing

@testable import ReachabilityCore

/// What a notice gives as its reasons.
struct PathPublisherTests {
    @Test(arguments: [
        ([Reason.linkDown, .routeFlushed, .addressRemoved], [Reason.linkDown, .routeFlushed]),
        ([.linkRemoved, .addressRemoved], [.linkRemoved]),
        ([.addressRemoved, .linkDown], [.addressRemoved, .linkDown]),
        ([.addressRemoved, .routeFlushed], [.addressRemoved, .routeFlushed]),
    ])
    func `addresses that go with their interface are no reason of their own`(noted: [Reason], told: [Reason]) throws {
        var publisher = PathPublisher()
        _ = publisher.offer(.init(status: .wifi, reasons: []), at: .init(nanoseconds: 0))
        for reason in noted { publisher.note([reason]) }
        let notice = publisher.offer(.init(status: .notReachable, reasons: [.noRoute]), at: .init(nanoseconds: 1))
        #expect(try #require(notice).reasons == told)
    }
}
