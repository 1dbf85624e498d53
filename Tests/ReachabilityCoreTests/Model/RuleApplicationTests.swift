import Testing

@testable import ReachabilityCore

@Suite("Rules")
struct RuleApplicationTests {
    @Test("Rules are in order of priority, equal ones in order of arrival")
    func order() {
        var story = ModelStory()
        for (priority, mark) in [(200, 1), (100, 2), (200, 3), (0, 4), (100, 5)] as [(UInt32, UInt32)] {
            #expect(story.apply(.rule(rule(priority, mark: mark))).reasons == [.ruleChanged])
        }
        #expect(story.snapshot.ipv4Rules.elements.map(\.mark.value) == [4, 2, 5, 1, 3])
        #expect(story.snapshot.ipv6Rules == [])
    }

    @Test("A known rule changes nothing, and a removal removes one rule")
    func identity() {
        var story = ModelStory()
        story.apply(.rule(rule(100, mark: 1)))
        #expect(!story.apply(.rule(rule(100, mark: 1))).changed)
        #expect(!story.apply(.ruleRemoved(rule(100, mark: 2))).changed)
        #expect(story.apply(.ruleRemoved(rule(100, mark: 1))).reasons == [.ruleChanged])
        #expect(story.snapshot.ipv4Rules == [])
    }

    @Test("A goto is resolved when its target is added, and unresolved when the last rule of that priority is removed")
    func targets() {
        var story = ModelStory()
        var goto = rule(100, mark: 0)
        goto.action = .goto
        goto.gotoPriority = 300
        goto.flags = .unresolved
        story.apply(.rule(goto))
        #expect(story.snapshot.ipv4Rules.elements[0].flags == .unresolved)
        story.apply(.rule(rule(300, mark: 1)))
        story.apply(.rule(rule(300, mark: 2)))
        #expect(story.snapshot.ipv4Rules.elements[0].flags == [])
        story.apply(.ruleRemoved(rule(300, mark: 1)))
        #expect(story.snapshot.ipv4Rules.elements[0].flags == [])
        story.apply(.ruleRemoved(rule(300, mark: 2)))
        #expect(story.snapshot.ipv4Rules.elements[0].flags == .unresolved)
        story.apply(.ruleRemoved(goto))
        #expect(story.snapshot.ipv4Rules == [])
    }

    @Test("Rules follow the interfaces of their names as these appear, disappear and are renamed")
    func attached() {
        var story = ModelStory()
        var named = rule(100, mark: 0)
        named.inputInterface = "eth3"
        named.flags = .inputDetached
        story.apply(.rule(named))
        #expect(story.link(3).reasons == [.linkAdded, .ruleChanged])
        #expect(story.snapshot.ipv4Rules.elements[0].flags == [])
        story.link(3) { $0.name = "uplink" }
        #expect(story.snapshot.ipv4Rules.elements[0].flags == .inputDetached)
        story.link(3)
        story.apply(.linkRemoved(ModelStory.link(3)))
        #expect(story.snapshot.ipv4Rules.elements[0].flags == .inputDetached)
    }

    private func rule(_ priority: UInt32, mark: UInt32) -> RuleMessage {
        var rule = RuleMessage(family: .ipv4)
        rule.priority = priority
        rule.mark = .init(value: mark, mask: .max)
        return rule
    }
}
