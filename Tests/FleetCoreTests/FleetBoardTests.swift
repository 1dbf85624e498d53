import EventCore
import FleetCore
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Testing

@Suite struct FleetBoardTests {
    @Test func `the exit code says whether all are reachable, some are not, or nothing is known`() throws {
        var story = FleetStory()
        story.wait(until: 0)
        #expect(story.board.exitCode == 2)
        story.model.expect(try .init(parsing: "g/a\ng/b"))
        story.wait(until: 0)
        #expect(story.board.exitCode == 2 && story.board.totals.unheard == 2)
        for name in ["a", "b"] {
            story.receive(.birth(), of: name, at: 1)
            story.receive(.state(.init(1, 1, .wifi, at: 0)), of: name, at: 1)
            story.wait(until: 1)
            #expect(story.board.exitCode == (name == "a" ? 1 : 0))
        }
        story.receive(.state(.init(1, 2, .notReachable, at: 2)), of: "a", at: 2)
        story.wait(until: 2)
        #expect(story.board.exitCode == 1 && story.board.totals.notReachable == 1)
    }

    @Test func `the worst is first`() throws {
        var story = FleetStory()
        let states: [ReachabilityStatus] = [.wifi, .cellular, .notReachable, .unknown, .wifi]
        for (index, state) in states.enumerated() {
            story.receive(.birth(), of: "\(index)", at: 0)
            story.receive(.state(.init(1, 1, state, at: -10)), of: "\(index)", at: 0)
        }
        story.receive(.lost(), of: "4", at: 0, isRetained: true)
        story.model.expect(try .init(parsing: "g/5"))
        story.wait(until: 1)
        #expect(story.board.nodes(0..<9, in: story.model).map(\.key.name) == ["4", "2", "5", "3", "1", "0"])
    }

    @Test func `machines that became silent together are one line`() throws {
        var story = FleetStory()
        for number in 0..<300 {
            let group = number < 250 ? "site-3" : "site-4"
            story.receive(.birth(), of: "n\(number)", group: group, at: 0)
        }
        for number in 0..<214 {
            story.receive(.lost(), of: "n\(number)", group: "site-3", at: 100 + Double(number) / 4)
        }
        for number in 250..<254 { story.receive(.lost(), of: "n\(number)", group: "site-4", at: 100) }
        story.receive(.lost(), of: "n240", group: "site-3", at: 500)
        story.wait(until: 600)
        #expect(story.board.bursts.map(\.text) == ["214 of site-3 silent within 60 s"])
        #expect(story.board.bursts.first?.all == 250 && story.board.totals.silent == 219)
        for number in 0..<214 { story.receive(.birth(), of: "n\(number)", group: "site-3", at: 700) }
        story.wait(until: 700)
        #expect(story.board.bursts.isEmpty)
    }

    @Test func `groups have their own numbers, the worst first`() throws {
        var story = FleetStory(grouping: .label("site"))
        for (name, site, state) in [
            ("a", "Basel", ReachabilityStatus.wifi), ("b", "Chur", .notReachable), ("c", "", .wifi),
        ] {
            story.receive(.birth(labels: site.isEmpty ? [:] : ["site": site]), of: name, at: 0)
            story.receive(.state(.init(1, 1, state, at: -10)), of: name, at: 0)
        }
        story.wait(until: 1)
        #expect(story.board.groups.map(\.name) == ["Chur", "", "Basel"])
        #expect(story.board.groups.first?.totals.reachable == 0)
        story.receive(.birth(labels: ["site": "Basel"]), of: "b", at: 2)
        story.wait(until: 2)
        #expect(story.board.groups.map(\.name) == ["Basel", ""] && story.board.groups[0].totals.nodes == 2)
    }

    @Test(arguments: 0..<20) func `following the changes equals counting and sorting all`(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let filter = try FleetFilter(parsing: "outages<4")
        var story = FleetStory(filter: filter, grouping: .state)
        let states: [ReachabilityStatus] = [.wifi, .cellular, .notReachable, .unknown]
        var sequence: UInt64 = 0
        for step in 0..<400 {
            sequence += 1
            let name = "n\(Int.random(in: 0..<60, using: &generator))"
            let content: NodeReport.Content
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: content = .birth()
            case 1: content = .lost()
            case 2: content = .stopped()
            default:
                let state = states.randomElement(using: &generator) ?? .wifi
                content = .event(.init(1, sequence, state, at: Double(step)))
            }
            story.receive(content, of: name, at: Double(step))
            guard Int.random(in: 0..<20, using: &generator) == 0 else { continue }
            story.wait(until: Double(step))
            var whole = FleetBoard(filter: filter, grouping: .state)
            _ = whole.update(from: &story.model)
            #expect(story.board.nodes(0..<100, in: story.model) == whole.nodes(0..<100, in: story.model))
            #expect(story.board.totals == whole.totals && story.board.exitCode == whole.exitCode)
            #expect(story.board.groups.map(\.name) == whole.groups.map(\.name))
            #expect(story.board.groups.map(\.totals) == whole.groups.map(\.totals))
        }
    }

    @Test func `nothing changed, nothing is shown differently`() throws {
        var story = FleetStory()
        story.receive(.birth(), at: 0)
        let changes = [story.board.update(from: &story.model), story.board.update(from: &story.model)]
        #expect(changes == [true, false])
    }

    @Test func `JSON has all members, and is JSON`() throws {
        var story = FleetStory()
        story.receive(.birth(labels: ["site": "\"Basel\"\u{202E}"]), of: "n\n", at: 0)
        story.receive(.state(.init(1, 1, .wifi, at: -3_600)), of: "n\n", at: 0)
        story.receive(.lost(), of: "n\n", at: 60)
        story.receive(.birth(), of: "n\n", at: 120)
        story.receive(.state(.init(1, 3, .wifi, at: 110)), of: "n\n", at: 120)
        story.receive(.event(.init(1, 2, .notReachable, at: 50, reasons: ["link.down"])), of: "n\n", at: 120)
        story.receive(.event(.init(1, 3, .wifi, at: 110)), of: "n\n", at: 120)
        let text = try story.node("n\n").json(at: FleetStory.time(120))
        #expect(
            text == #"{"v":1,"time":"2026-11-23T12:02:00.000000Z","group":"g","node":"n\n","labels":{},"#
                + #""link":"online","state":"wifi","lastState":"wifi","since":"2026-11-23T12:01:50.000000Z","#
                + #""path":{"interface":"wlan0","kind":"wifi","gateway":"192.0.2.1"},"reasons":[],"availability":0.9838,"#
                + #""uncovered":82680,"outages":1,"flapping":false,"lastSeen":"2026-11-23T12:02:00.000000Z","backlog":0,"#
                + #""lost":0,"why":"noPath","silence":{"from":"2026-11-23T12:01:00.000000Z","#
                + #""until":"2026-11-23T12:02:00.000000Z","why":"noPath","reasons":["link.down"]},"#
                + #""event":"0000000000000001.3","expected":false}"#
        )
        let board = try #require(JSONText(Array(story.board.json(at: FleetStory.time(120)).utf8)[...]).members)
        #expect(board["nodes"]?.wholeNumber == 1 && board["reachable"]?.wholeNumber == 1)
        #expect(board["availability"]?.number == 0.9838 && board["bursts"]?.elements?.isEmpty == true)
    }
}
