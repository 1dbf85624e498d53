import EventCore
import FleetCore
import NetwatchCore
import ReachabilityCore
import Testing
import ValidationCore

@Suite struct NodeStatusTests {
    @Test func `availability comes from events, and time that none covers is unknown`() throws {
        var story = FleetStory()
        // An hour of Wi-Fi with ten minutes of outage, a hole of two hours, and Wi-Fi for the last hour.
        story.receive(.event(.init(1, 1, .wifi, at: -14_400)), at: 0)
        story.receive(.event(.init(1, 2, .notReachable, at: -13_800)), at: 0)
        story.receive(.event(.init(1, 3, .wifi, at: -13_200)), at: 0)
        story.receive(.event(.init(1, 4, .cellular, at: -10_800)), at: 0)
        story.receive(.event(.init(1, 9, .wifi, at: -3_600)), at: 0)
        story.receive(.state(.init(1, 9, .wifi, at: -3_600)), at: 0)
        story.receive(.birth(), at: 0, isRetained: true)
        let node = try story.node()
        #expect(node.outages == 1 && node.lost == 4 && node.backlog == 0)
        #expect(node.availability == 10_000 * (3_600 + 3_600 - 600) / 7_200)
        #expect(node.uncovered == .seconds(86_400 - 7_200))
        #expect(node.since == FleetStory.time(-3_600))
    }

    @Test func `a will is no outage, and the time after the last message is unknown`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.state(.init(1, 1, .wifi, at: -3_600)), at: 0)
        story.receive(.event(.init(1, 1, .wifi, at: -3_600)), at: 0)
        story.wait(until: 3_600)
        #expect(try story.node().uncovered == .seconds(86_400 - 7_200))
        story.receive(.lost(), at: 3_600)
        story.wait(until: 7_200)
        let node = try story.node()
        #expect(node.outages == 0 && node.availability == 10_000 && node.uncovered == .seconds(86_400 - 3_600))
        #expect(node.lastSeen == FleetStory.time(0))
    }

    @Test func `a clock that was not set makes time unknown, not available`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.state(.init(1, 1, .wifi, at: -Double(FleetStory.start) + 100)), at: 0)
        story.receive(.event(.init(1, 1, .wifi, at: -Double(FleetStory.start) + 100)), at: 0)
        let node = try story.node()
        #expect(node.state == .wifi && node.availability == nil && node.since == nil)
    }

    @Test func `the backlog is what the newest state says, and the events do not have yet`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0, isRetained: true)
        story.receive(.state(.init(1, 41, .wifi, at: -10)), at: 0, isRetained: true)
        // Those before the first that is known were for others.
        #expect(try story.node().backlog == 0)
        story.receive(.state(.init(1, 44, .notReachable, at: 5)), at: 5)
        #expect(try story.node().backlog == 3)
        for number in 42...44 as ClosedRange<UInt64> { story.receive(.event(.init(1, number, .wifi, at: 5)), at: 6) }
        #expect(try story.node().backlog == 0)
        story.receive(.state(.init(2, 2, .wifi, at: 9)), at: 9)
        #expect(try story.node().backlog == 2)
    }

    @Test func `runs are ordered by time, and the state's is the last, whatever its clock says`() throws {
        var story = FleetStory()
        story.receive(.event(.init(7, 5, .wifi, at: -50)), at: 0)
        story.receive(.event(.init(3, 9, .cellular, at: -60)), at: 0)
        #expect(try story.node().lastState == .wifi)
        story.receive(.state(.init(9, 1, .notReachable, at: -1_000_000)), at: 0)
        story.receive(.event(.init(3, 10, .cellular, at: -10)), at: 0)
        #expect(try story.node().lastState == .notReachable)
    }

    @Test func `messages of more machines than the limit are refused`() throws {
        var limits = FleetLimits()
        limits.nodes = 2
        var story = FleetStory(limits: limits)
        #expect(story.receive(.birth(), of: "a", at: 0) == .new)
        #expect(story.receive(.birth(), of: "b", at: 0) == .new)
        #expect(story.receive(.birth(), of: "c", at: 0) == .refused)
        #expect(story.receive(.birth(), of: "a", at: 0) == .new && story.model.count == 2)
    }

    @Test func `more changes than the limit make the time before them unknown`() throws {
        var limits = FleetLimits()
        limits.changesOfNode = 64
        var story = FleetStory(limits: limits)
        story.receive(.birth(), at: 0)
        for number in 1...1_000 as ClosedRange<UInt64> {
            let event = EventReport(1, number, number % 2 == 0 ? .wifi : .notReachable, at: Double(number) - 1_000)
            story.receive(.event(event), at: 0)
            story.receive(.state(event), at: 0)
        }
        let node = try story.node()
        #expect((28...36).contains(node.outages) && node.uncovered > .seconds(86_400 - 80))
        #expect(node.lost == 0 && node.newest == .init(run: 1, sequence: 1_000))
    }

    @Test func `of holes without end, a bounded number is kept`() throws {
        var story = FleetStory()
        for number in 1...5_000 as ClosedRange<UInt64> {
            story.receive(.event(.init(1, 2 * number, .wifi, at: Double(number) - 6_000)), at: 0)
            story.receive(.event(.init(number + 1, 1, .wifi, at: Double(number) - 6_000)), at: 0)
        }
        // The holes that are not forgotten.
        #expect(try story.node().lost <= 256)
    }

    @Test(arguments: [
        (ValidationVerdict.portal(.init(loginURL: "http://h.example/")), "portal at http://h.example/"),
        (.noInternet(.noResponse), "no internet: no server answers"), (.validated, ""), (.notChecked, ""),
    ])
    func `a machine behind a portal is reachable, and the verdict is why it is shown before others`(
        verdict: ValidationVerdict,
        words: String
    ) throws {
        var story = FleetStory()
        for name in ["a", "n"] {
            story.receive(.birth(), of: name, at: 0)
            story.receive(.state(.init(1, 1, .wifi, at: -10, validation: name == "n" ? verdict : nil)), of: name, at: 0)
        }
        let node = try story.node()
        #expect(node.whyWords == words && node.isReachable && node.outages == 0)
        #expect(node.isLimited != words.isEmpty && story.board.exitCode == 0)
        let order = story.board.nodes(0..<2, in: story.model).map(\.key.name)
        #expect(order == (words.isEmpty ? ["a", "n"] : ["n", "a"]))
        let member = try JSONText(Array(node.json(at: FleetStory.time(0)).utf8)[...]).members?["validation"]?.members
        #expect(member?["verdict"]?.string == verdict.name && member?["loginURL"]?.string == verdict.portal?.loginURL)
        story.receive(.lost(), at: 60)
        story.wait(until: 120)
        #expect(try !story.node().isLimited)
    }

    @Test func `a verdict ends with the event that lacks it`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.event(.init(1, 1, .wifi, at: 0, validation: .portal(.init()))), at: 0)
        #expect(try story.node().whyWords == "portal")
        story.receive(.event(.init(1, 2, .wifi, at: 1)), at: 1)
        let node = try story.node()
        #expect(
            node.validation == nil && node.whyWords == "" && !node.json(at: FleetStory.time(1)).contains("validation")
        )
    }

    @Test func `the state that a broker has kept completes the newest event of a store, which lacks the verdict`()
        throws
    {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        story.receive(.event(.init(1, 7, .wifi, at: 0)), at: 0)
        story.receive(.state(.init(1, 7, .wifi, at: 0, validation: .portal(.init()))), at: 1, isRetained: true)
        #expect(try story.node().validation == .init(verdict: .portal(.init())))
    }
}
