import Testing

@testable import ReachabilityCore

@Suite struct RuleStepTests {
    typealias Scene = ExplainedScene
    private let table = RouteTableID(rawValue: 100)

    @Test func `a rule that suppresses short prefixes passes on to the next rule`() {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2))
        scene.setRoutes(Scene.route(on: 3), table: table)
        var suppressing = Scene.rule(.ipv4, 10, .main)
        suppressing.suppressPrefixLength = 0
        scene.snapshot.ipv4Rules.elements.insert(contentsOf: [suppressing, Scene.rule(.ipv4, 20, table)], at: 1)
        #expect(scene.results() == [.noResult, .suppressedPrefix(0), .decides])
        #expect(scene.verdicts() == [.notTaken, .chosen])
    }

    @Test func `a rule that suppresses an interface group passes on`() {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2))
        scene.snapshot.ipv4Rules.elements[1].suppressInterfaceGroup = 0
        #expect(scene.results() == [.noResult, .suppressedGroup(0)])
    }

    @Test func `tables that the walk does not reach, and those that no rule names, are listed`() {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2))
        scene.setRoutes(Scene.route(on: 3), table: table)
        scene.setRoutes(Scene.route(on: 3), table: .init(rawValue: 200))
        scene.snapshot.ipv4Rules.elements.append(Scene.rule(.ipv4, 40_000, table))
        var marked = Scene.rule(.ipv4, 5, .init(rawValue: 200))
        marked.mark = .init(value: 1, mask: 1)
        scene.snapshot.ipv4Rules.elements.insert(marked, at: 1)
        #expect(scene.results() == [.noResult, .decides, .notReached])
        #expect(scene.verdicts() == [.chosen, .notReached])
        #expect(scene.family().unconsultedTables.map(\.table.rawValue) == [200])
    }

    @Test(arguments: [
        (RuleAction.prohibit, RuleStep.Result.refuses(.refused(errno: 13, .prohibited))),
        (.noOperation, .nothing), (.goto, .continues(32_766)),
    ])
    func `a rule without a table has its own effect`(action: RuleAction, result: RuleStep.Result) {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2))
        var rule = Scene.rule(.ipv4, 10, .unspecified)
        rule.action = action
        rule.gotoPriority = action == .goto ? 32_766 : nil
        scene.snapshot.ipv4Rules.elements.insert(rule, at: 1)
        #expect(scene.results()[1] == result)
        #expect(scene.results().last == (action == .prohibit ? .notReached : .decides))
    }

    @Test func `a rule on the source matches only the second lookup`() throws {
        var scene = Scene()
        scene.setRoutes(Scene.route(on: 2))
        var rule = Scene.rule(.ipv4, 10, .unspecified)
        rule.source = .init(.init(ipv4: 0xC000_0202), length: 32)
        rule.action = .unreachable
        scene.snapshot.ipv4Rules.elements.insert(rule, at: 1)
        let lookups = scene.family().probes[0].lookups
        #expect(lookups.map(\.source) == [nil, .init(ipv4: 0xC000_0202)])
        #expect(lookups.map { $0.steps.last?.result } == [.decides, .notReached])
        #expect(lookups[1].steps[1].result == .refuses(.refused(errno: 101, .unreachable)))
    }

    @Test func `without rules there are no steps`() {
        var scene = Scene()
        scene.snapshot.ipv4Rules = []
        #expect(scene.results().isEmpty)
        #expect(scene.family().probes.count == 2 && scene.family().unconsultedTables.isEmpty)
    }
}
