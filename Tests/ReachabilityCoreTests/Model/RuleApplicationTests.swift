import Testing

@testable import ReachabilityCore

@Suite("Rules")
struct RuleApplicationTests {
    @Test("They stand by priority, equal ones in the order of coming")
    func order() {
        var story = ModelStory()
        for (priority, mark) in [(200, 1), (100, 2), (200, 3), (0, 4), (100, 5)] as [(UInt32, UInt32)] {
            #expect(story.tell(.rule(rule(priority, mark: mark))).reasons == [.ruleChanged])
        }
        #expect(story.snapshot.ipv4Rules.map(\.mark.value) == [4, 2, 5, 1, 3])
        #expect(story.snapshot.ipv6Rules == [])
    }

    @Test("One that is known already changes nothing, and one removal takes one")
    func identity() {
        var story = ModelStory()
        story.tell(.rule(rule(100, mark: 1)))
        #expect(!story.tell(.rule(rule(100, mark: 1))).changed)
        #expect(!story.tell(.ruleRemoved(rule(100, mark: 2))).changed)
        #expect(story.tell(.ruleRemoved(rule(100, mark: 1))).reasons == [.ruleChanged])
        #expect(story.snapshot.ipv4Rules == [])
    }

    @Test("A goto is resolved when its target comes, and unresolved when the last one of its priority goes")
    func targets() {
        var story = ModelStory()
        var goto = rule(100, mark: 0)
        goto.action = .goto
        goto.gotoPriority = 300
        goto.flags = .unresolved
        story.tell(.rule(goto))
        #expect(story.snapshot.ipv4Rules.target(of: goto) == nil)
        story.tell(.rule(rule(300, mark: 1)))
        story.tell(.rule(rule(300, mark: 2)))
        #expect(story.snapshot.ipv4Rules[0].flags == [])
        #expect(story.snapshot.ipv4Rules.target(of: goto) == 1)
        story.tell(.ruleRemoved(rule(300, mark: 1)))
        #expect(story.snapshot.ipv4Rules[0].flags == [])
        story.tell(.ruleRemoved(rule(300, mark: 2)))
        #expect(story.snapshot.ipv4Rules[0].flags == .unresolved)
        story.tell(.ruleRemoved(goto))
        #expect(story.snapshot.ipv4Rules == [])
    }

    @Test("Rules attach to interfaces by name as these come, go and are renamed")
    func attached() {
        var story = ModelStory()
        var named = rule(100, mark: 0)
        named.inputInterface = "eth3"
        named.flags = .inputDetached
        story.tell(.rule(named))
        #expect(story.link(3).reasons == [.linkAdded, .ruleChanged])
        #expect(story.snapshot.ipv4Rules[0].flags == [])
        story.link(3) { $0.name = "uplink" }
        #expect(story.snapshot.ipv4Rules[0].flags == .inputDetached)
        story.link(3)
        story.tell(.linkRemoved(ModelStory.link(3)))
        #expect(story.snapshot.ipv4Rules[0].flags == .inputDetached)
    }

    private func rule(_ priority: UInt32, mark: UInt32) -> RuleMessage {
        var rule = RuleMessage(family: .ipv4)
        rule.priority = priority
        rule.mark = .init(value: mark, mask: .max)
        return rule
    }
}
