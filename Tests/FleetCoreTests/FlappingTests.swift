import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing

@Suite struct FlappingTests {
    /// A machine whose state changes at moments, in minutes; the first event is an hour before the first of them.
    private func story(_ minutes: [Double], until end: Double) throws -> NodeStatus {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.event(.init(1, 1, .wifi, at: (minutes.first ?? 0) * 60 - 3_600)), at: 0)
        for (index, minute) in minutes.enumerated() {
            let number = UInt64(index + 2)
            story.receive(
                .event(.init(1, number, number % 2 == 0 ? .cellular : .wifi, at: minute * 60)),
                at: minute * 60
            )
        }
        story.wait(until: end * 60)
        return try story.node()
    }

    @Test func `five changes within an hour are flapping, four are not`() throws {
        #expect(try story([0, 15, 30, 45, 60], until: 61).isFlapping)
        #expect(try !story([0, 15, 30, 45], until: 46).isFlapping)
        #expect(try !story([0, 15, 30, 45, 60.1], until: 61).isFlapping)
    }

    @Test func `it ends after 30 minutes without a change`() throws {
        #expect(try story([0, 1, 2, 3, 4], until: 33.9).isFlapping)
        #expect(try !story([0, 1, 2, 3, 4], until: 34).isFlapping)
        #expect(try story([0, 1, 2, 3, 4, 33], until: 62).isFlapping)
    }

    @Test func `the changes before the quiet time do not count again`() throws {
        #expect(try !story([0, 1, 2, 3, 4, 35], until: 36).isFlapping)
        #expect(try story([0, 1, 2, 3, 4, 35, 36, 37, 38, 39], until: 40).isFlapping)
    }

    @Test func `an unknown state in between, and another path, are no changes`() throws {
        var story = FleetStory()
        for number in 1...20 as ClosedRange<UInt64> {
            story.receive(.event(.init(1, number, number % 2 == 0 ? .unknown : .wifi, at: Double(number))), at: 60)
        }
        #expect(try !story.node().isFlapping)
    }

    @Test func `the model says when it ends`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        for number in 1...6 as ClosedRange<UInt64> {
            story.receive(.event(.init(1, number, number % 2 == 0 ? .cellular : .wifi, at: Double(number))), at: 10)
        }
        story.wait(until: 10)
        #expect(story.model.nextChange == FleetStory.time(6 + 1_800))
        story.wait(until: 6 + 1_800)
        #expect(try !story.node().isFlapping)
        #expect(story.model.nextChange == nil)
    }
}
