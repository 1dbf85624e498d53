import Testing

@testable import NetworkClientCore

struct TimeoutsTests {
    @Test(arguments: Timeouts.Stage.allCases)
    func `each stage has its own limit`(stage: Timeouts.Stage) {
        var limits = Timeouts(
            resolve: .seconds(1),
            connect: .seconds(2),
            tls: .seconds(3),
            firstByte: .seconds(4),
            read: .seconds(5),
            write: .seconds(6),
            total: .seconds(7)
        )
        let expected = Dictionary(uniqueKeysWithValues: zip(Timeouts.Stage.allCases, 1...7))
        #expect(limits[stage] == expected[stage].map { .seconds($0) })
        limits = .init(resolve: nil, connect: nil, tls: nil, firstByte: nil, read: nil, write: nil)
        #expect(limits[stage] == nil)
    }
}
